import * as z from 'zod'
import { ErrorObject } from '../../../model/error-shape.ts'
import { asResult } from '../../../host/files/files.ts'
import { instancesWithRecords } from '../../../host/files/records.ts'
import { ok } from '../../../model/errors.ts'
import { SessionId } from '../../../model/ids.ts'
import { Count } from '../../../model/shape.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import { answer, wantsColour } from '../world/answer.ts'
import { terminalText, type Line } from '../text/cell-width.ts'
import { cell, inColumns } from '../text/columns.ts'
import type { Run } from '../world/command.ts'
import type { SESSIONS } from '../definitions/sessions.ts'
import { withProgress } from '../render/progress.ts'
import { branchOf, sessionTree, type TreeRow } from '../render/session-tree.ts'
import { instanceNames } from '../world/instance-records.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { OpenWorkspace } from '../../../session/workspace/workspace.ts'
import type { CliWorld } from '../world/world.ts'

export const Output = z.object({
  ok: z.literal(true),
  sessions: z
    .array(
      z.object({
        session_id: SessionId,
        parent_session_id: SessionId.optional().describe('The Session that it was forked from.'),
        depth: Count.describe('0 for a root Session, 1 for its forks, and so on.'),
        title: z.string(),
        turns: Count,
        last_at: z.string().optional().describe('When its last Event was written, UTC.'),
        provider: z.string(),
        model: z.string(),
        foreign: z.boolean().describe('Created elsewhere; it can only be read.'),
        busy: z.boolean().describe('A process on this machine is writing it.'),
        turn_open: z.boolean().describe('A Turn has started and not ended.'),
        damage: ErrorObject.optional().describe('Why it cannot be read completely.'),
      }),
    )
    .describe('Families by their latest member, latest first; forks after their parents.'),
  instances: z
    .array(z.string())
    .describe('Instances that have Sessions of their own in this folder: see --instance.'),
})

/** Lists the Sessions of a folder. None is not an error. */
export const run: Run<typeof SESSIONS> = async (world, input) => {
  const { instance } = input.options
  const none = (instances: readonly string[]) => {
    const text = instance === undefined ? NONE : 'This Instance has no Sessions in this folder.\n'
    const output = { sessions: [], instances: [...instances] }
    return answer(world, output, () => `${text}${instanceWords(instances)}`)
  }
  return inWorkspace(
    world,
    input.options,
    async ({ harness, settings, folders }) => {
      const sessions = await withProgress(world, 'Reading the Sessions', () => harness.list())
      const instances = instance === undefined ? await instancesHere(world, folders) : []
      if (sessions.length === 0) return none(instances)
      const rows = sessionTree(sessions)
      const output = { sessions: rows.map(entryOf), instances: [...instances] }
      const text = () => `${words(world, settings, rows)}${instanceWords(instances)}`
      return answer(world, output, text)
    },
    { ifUnused: () => none([]) },
  )
}

const NONE = 'No Sessions in this folder yet. To start one: hawser run "What is in this folder?"\n'

async function instancesHere(
  world: CliWorld,
  { workspace }: OpenWorkspace['folders'],
): Promise<readonly string[]> {
  const ids = await asResult('look for records of Instances', async () =>
    ok(await instancesWithRecords(workspace)),
  )
  return ids.ok ? instanceNames(world, ids.value) : []
}

function instanceWords(instances: readonly string[]): string {
  const lines = instances.map(
    (name) => `Sessions of the Instance ${name}: hawser sessions --instance ${name}\n`,
  )
  return lines.join('')
}

function entryOf({ session, depth }: TreeRow) {
  const { id, state, foreign, busy, damage } = session
  const parent = SessionId.safeParse(state.parent_session_id)
  return {
    session_id: id,
    ...(parent.success ? { parent_session_id: parent.data } : {}),
    depth,
    title: state.title,
    turns: state.turns,
    ...(state.last_ts === '' ? {} : { last_at: state.last_ts }),
    provider: state.provider,
    model: state.model,
    foreign,
    busy,
    turn_open: state.turn_open,
    ...definedFields({ damage }),
  }
}

function words(world: CliWorld, { settings }: OpenWorkspace['settings'], rows: readonly TreeRow[]) {
  const { stdout } = world.streams
  const colour = wantsColour(world, stdout, settings.display?.colour)
  const dim = { dim: true }
  const header = ['Session', 'Written (UTC)', 'Turns', 'Title'].map((text) => cell(text, dim))
  const indent = rows.reduce((most, { depth }) => Math.max(most, branchOf(depth).length), 0)
  const room = stdout.isTTY ? stdout.columns - BEFORE_TITLE - indent : Infinity
  return terminalText(inColumns([header, ...rows.map((row) => cellsOf(row, room))], ALIGN), colour)
}

const ALIGN = ['left', 'left', 'right', 'left'] as const

/** The columns before the title, and the spaces between them. */
const BEFORE_TITLE = 'ses_01kg8m2q3r4s5t6v7w8x9y0z12  2026-01-31T12:00Z  Turns  '.length
const SHORTEST_TITLE = 16

/** `room` is the width for the title and the marks after it. */
function cellsOf({ session, depth }: TreeRow, room: number): Line[] {
  const { id, state } = session
  const marks = marksOf(session)
  const marked = marks.length === 0 ? '' : `  [${marks.join(', ')}]`
  const title = cell(state.title, {}, Math.max(SHORTEST_TITLE, room - marked.length))
  return [
    cell(`${branchOf(depth)}${id}`),
    cell(state.last_ts === '' ? '-' : `${state.last_ts.slice(0, 'yyyy-mm-ddThh:mm'.length)}Z`),
    cell(String(state.turns)),
    [...title, ...cell(marked, { colour: 'yellow' })],
  ]
}

function marksOf({ state, foreign, busy, damage }: ListedSession): string[] {
  const open = busy ? 'a Turn is running' : 'a Turn is open'
  return [
    ...(foreign ? ['foreign'] : []),
    ...(state.tether === undefined ? [] : ['of an Instance']),
    ...(damage === undefined ? [] : ['damaged']),
    ...(state.turn_open ? [open] : busy ? ['busy'] : []),
  ]
}
