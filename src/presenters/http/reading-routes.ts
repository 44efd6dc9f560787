import type { SessionId } from '../../model/ids.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { LastOutcomes, TurnOutcomes } from '../../session/queries/turn-outcomes.ts'
import { inHeld, type HeldWorkspace } from '../../session/workspace/open-workspaces.ts'
import { ofSession, route } from './exchange/route.ts'
import { LogQuery, MentionQuery, SessionParam } from './protocol.ts'
import type { ServerParts } from './server-parts.ts'
import { apiSession, type ApiSession } from './translate.ts'

/** What a client needs to show all Sessions, and one of any length from its end. */
export const READING_ROUTES = [
  route('GET /api/harness/workspaces', {
    summary: 'The registered workspaces with their Sessions, and what these are doing.',
    answer: 'Workspaces',
    handle: async ({ workspaces, outcomes }: ServerParts) => {
      const known = await workspaces.paths()
      const shown = await Promise.all(
        known.map(async (path) => {
          const listed = await inHeld(workspaces.hold(path), (held) => listedIn(held, outcomes))
          if (listed.ok) return { projectRoot: path, sessions: listed.value.sessions }
          return { projectRoot: path, sessions: [], problem: listed.error.message }
        }),
      )
      return ok({ workspaces: shown })
    },
  }),
  route('GET /api/harness/session/:id/log', {
    summary: 'The Events of a Session before a number, the newest page by default, in order.',
    ids: SessionParam,
    query: LogQuery,
    answer: 'LogPage',
    handle: async ({ workspaces }: ServerParts, { ids: { id }, query }) =>
      ofSession(await inHeld(workspaces.holdFor(id), (held) => pageOf(held, id, query))),
  }),
  route('GET /api/harness/session/:id/mentions', {
    summary: 'Files of the workspace whose path contains a text, the best first.',
    ids: SessionParam,
    query: MentionQuery,
    answer: 'Mentions',
    handle: async ({ workspaces }: ServerParts, { context, ids: { id }, query }) => {
      const signal = context.req.raw.signal
      const found = await inHeld(workspaces.holdFor(id), async ({ workspace }) => {
        const paths: string[] = []
        const onPaths = (more: readonly string[]) => {
          paths.push(...more.filter((path) => rankOf(path, query.text) < NO_MATCH))
          return paths.length < MOST_SCANNED
        }
        await workspace.harness.listFiles({ onPaths, signal })
        return ok({ paths: bestOf(paths, query.text) })
      })
      return ofSession(found)
    },
  }),
  route('GET /api/harness/session/:id/skills', {
    summary: 'The Skills that a person can activate here.',
    ids: SessionParam,
    answer: 'Skills',
    handle: async ({ workspaces }: ServerParts, { ids: { id } }) => {
      const found = await inHeld(workspaces.holdFor(id), async ({ workspace }) => {
        const { skills } = await workspace.harness.skills()
        return ok({
          skills: skills.map(({ name, description, trust }) => ({ name, description, trust })),
        })
      })
      return ofSession(found)
    },
  }),
]

type ShownSession = ApiSession & Partial<TurnOutcomes>

async function listedIn(
  { path, workspace }: HeldWorkspace,
  outcomes: LastOutcomes,
): Promise<Result<{ readonly sessions: readonly ShownSession[] }>> {
  const { harness } = workspace
  const sessions = await Promise.all(
    (await harness.list()).map(async (one) => {
      const live = harness.activityOf(one.id)
      const ended = one.state.turn_open ? undefined : await outcomes.lastOf(harness, one)
      return { ...apiSession(one, path), ...live, ...definedFields({ lastStatus: ended }) }
    }),
  )
  return ok({ sessions })
}

const PAGE_CHARACTERS = 1024 * 1024

async function pageOf(
  { workspace: { harness } }: HeldWorkspace,
  id: SessionId,
  {
    before_seq = Infinity,
    limit,
  }: { readonly before_seq?: number | undefined; readonly limit: number },
): Promise<Result<object>> {
  const events: object[] = []
  let size = 0
  const isBefore = ({ seq }: { readonly seq: number }) => seq < before_seq
  const read = await harness.readBackward(id, { isWanted: isBefore }, ({ raw, event }) => {
    if (!isBefore(raw)) return undefined
    const shown = event ?? raw
    events.unshift({ known: event !== undefined, event: shown })
    size += JSON.stringify(shown).length
    return events.length < limit && size < PAGE_CHARACTERS ? undefined : false
  })
  if (!read.ok) return read
  return ok({ events, ...definedFields({ damage: read.value.damage }) })
}

const MOST_SCANNED = 2_000
const MOST_MENTIONS = 30
const NO_MATCH = 4

/** The name begins with the text, has it, or the path has it. */
function rankOf(path: string, text: string): number {
  const [whole, part] = [path.toLowerCase(), text.toLowerCase()]
  const name = whole.slice(whole.lastIndexOf('/') + 1)
  if (name.startsWith(part)) return 0
  if (name.includes(part)) return 1
  return whole.includes(part) ? 2 : NO_MATCH
}

function bestOf(paths: readonly string[], text: string): string[] {
  const ranked = [...new Set(paths)].toSorted(
    (a, b) => rankOf(a, text) - rankOf(b, text) || a.length - b.length || (a < b ? -1 : 1),
  )
  return ranked.slice(0, MOST_MENTIONS)
}
