import { basename } from 'node:path'
import type { EventData } from '../../../model/events/event.ts'
import type { SessionMode, PermissionMode } from '../../../model/modes.ts'
import { cellWidth, type Colour, type Line, type Style } from '../text/cell-width.ts'
import { visibleLine } from '../text/visible-text.ts'
import { postureWords } from './posture.ts'

type Pressure = EventData<'provider_usage'>['pressure']

/** What a status line says about a Session. */
export interface StatusFacts {
  readonly mode: SessionMode
  readonly permission_mode: PermissionMode
  readonly model: string
  readonly effort?: string | undefined
  readonly workspace: string
  readonly branch: string | undefined
  readonly pressure: Pressure | undefined
  readonly cost_usd?: number | undefined
  readonly queueLength: number
  /** What keys do now, the most important first. */
  readonly keys: readonly string[]
}

/** A part of the line. When the line is too long, the part with the highest `rank` is left out first. */
interface StatusPart {
  readonly text: string
  /** Instead, when the line is too long. */
  readonly short?: string
  readonly rank: number
  readonly style?: Style
  /** Separates it from the part before; ` · ` by default. */
  readonly gap?: string
}

/** The status line in at most `columns`: mode and keys stay longest, then the queue, the window, the model and the cost. Pure. */
export function statusLine(facts: StatusFacts, columns: number): Line {
  let parts = partsOf(facts)
  if (widthOf(parts) > columns)
    parts = parts.map((part) => ({ ...part, text: part.short ?? part.text }))
  while (parts.length > 1 && widthOf(parts) > columns) {
    const last = parts.reduce((worst, part) => (part.rank > worst.rank ? part : worst))
    parts = parts.filter((part) => part !== last)
  }
  return parts.flatMap(({ text, style, gap = GAP }, at): Line => [
    ...(at === 0 ? [] : [{ text: gap, style: DIM }]),
    { text, style: style ?? DIM },
  ])
}

const GAP = ' · '
const DIM: Style = { dim: true }

const TIER_COLOURS: Readonly<Record<string, Colour>> = {
  advisory: 'yellow',
  warning: 'yellow',
  critical: 'red',
}

function partsOf(facts: StatusFacts): StatusPart[] {
  const { model, effort, workspace, branch, pressure, cost_usd, queueLength } = facts
  const [key, ...otherKeys] = facts.keys
  return [
    {
      text: postureWords(facts),
      rank: 0,
      style:
        facts.permission_mode === 'auto' && facts.mode === 'build' ? { colour: 'yellow' } : DIM,
    },
    ...optional(model === '' ? undefined : { text: visibleLine(model), rank: 4 }),
    ...optional(
      effort === undefined ? undefined : { text: visibleLine(effort), rank: 6, gap: ' ' },
    ),
    ...windowPart(pressure),
    ...optional(cost_usd === undefined ? undefined : { text: dollars(cost_usd), rank: 5 }),
    ...optional(workspace === '' ? undefined : { text: visibleLine(basename(workspace)), rank: 8 }),
    ...optional(
      branch === undefined ? undefined : { text: `(${visibleLine(branch)})`, rank: 9, gap: ' ' },
    ),
    ...optional(
      queueLength === 0
        ? undefined
        : { text: `${queueLength} queued`, rank: 2, style: { colour: 'cyan' } },
    ),
    ...optional(key === undefined ? undefined : { text: key, rank: 1 }),
    ...otherKeys.map((text, at) => ({ text, rank: 7 + at / 10 })),
  ]
}

/** Rounded down, so that it never shows a limit that was not reached. */
function windowPart(pressure: Pressure | undefined): StatusPart[] {
  if (pressure === undefined || pressure === 'unavailable') return []
  const colour = TIER_COLOURS[pressure.tier]
  const short = `${Math.floor(pressure.ratio * 100)} %`
  return [
    {
      text: `${short} of the window`,
      short,
      rank: 3,
      style: colour === undefined ? DIM : { colour },
    },
  ]
}

function dollars(cost: number): string {
  return cost < 0.1 ? `$${cost.toFixed(4)}` : `$${cost.toFixed(2)}`
}

function optional(part: StatusPart | undefined): StatusPart[] {
  return part === undefined ? [] : [part]
}

function widthOf(parts: readonly StatusPart[]): number {
  return parts.reduce(
    (sum, { text, gap = GAP }, at) => sum + cellWidth(text) + (at === 0 ? 0 : gap.length),
    0,
  )
}
