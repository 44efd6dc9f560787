import * as z from 'zod'
import { Descriptor } from '../../../model/descriptor.ts'
import { failed, type Failed, type Result } from '../../../model/errors.ts'
import { SessionId, TurnId } from '../../../model/ids.ts'
import { Count } from '../../../model/shape.ts'
import type { ListedResource } from '../../../session/queries/resources.ts'
import type { Session } from '../../../session/session.ts'
import { answer, wantsColour } from '../world/answer.ts'
import { terminalText } from '../text/cell-width.ts'
import type { CommandInput, Run } from '../world/command.ts'
import type { RESOURCES } from '../definitions/sessions.ts'
import { withProgress } from '../render/progress.ts'
import { resourceTable } from '../render/resource-table.ts'
import { resourceName } from '../text/resource-words.ts'
import { openNamed } from '../../../session/workspace/session-reference.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { OpenWorkspace } from '../../../session/workspace/workspace.ts'
import type { CliWorld } from '../world/world.ts'

const Listed = z.object({
  descriptor: Descriptor,
  turn: Count.describe('Number of the Turn that added it, from 1.'),
  turn_id: TurnId.optional(),
  ts: z.string().describe('When it was added, UTC.'),
  by: z.enum(['person', 'agent']),
  state: z
    .enum(['live', 'retired', 'dropped', 'quarantined'])
    .describe('Whether it may be sent to a model; `retired` only on request.'),
  payload: z
    .enum(['present', 'missing', 'damaged', 'none'])
    .describe('Whether its bytes are stored unchanged; a link has none.'),
  shown: Count.describe('Requests that contained its bytes.'),
  views: Count.describe('How often it was requested again.'),
})

export const Output = z.object({
  ok: z.literal(true),
  session_id: SessionId,
  resources: z.array(Listed).optional().describe('In the order they were added.'),
  dropped: z.string().optional().describe('The handle, with drop.'),
})

/** Lists the Resources of a Session, or drops one so that its bytes are never sent to a model again. */
export const run: Run<typeof RESOURCES> = async (world, input) =>
  inWorkspace(world, input.options, async (opened) => {
    const [named, action, handle] = withSession(input.args)
    if (action !== undefined && action !== 'drop') return noSuchAction()
    const session = await openNamed(opened.harness, named)
    if (!session.ok) return session
    return action === 'drop'
      ? drop(world, session.value, handle)
      : list(world, opened, session.value)
  })

type Args = CommandInput<typeof RESOURCES>['args']

/** `drop` cannot be part of an id, so the Session is omitted. */
function withSession([first, second, third]: Args): Args {
  return first === 'drop' ? [undefined, first, second] : [first, second, third]
}

async function list(
  world: CliWorld,
  { settings: { settings } }: OpenWorkspace,
  session: Session,
): Promise<Result<number>> {
  const listed = await withProgress(world, 'Checking stored bytes', () => session.resources())
  if (!listed.ok) return listed
  const output = { session_id: session.id, resources: listed.value }
  const { stdout } = world.streams
  const colour = wantsColour(world, stdout, settings.display?.colour)
  return answer(world, output, () => words(listed.value, colour))
}

function words(listed: readonly ListedResource[], colour: boolean): string {
  return listed.length === 0 ? NONE : terminalText(resourceTable(listed), colour)
}

const NONE =
  'This Session has no Resources. To attach a file: hawser run --continue --attach FILE "What is this?"\n'

async function drop(
  world: CliWorld,
  session: Session,
  named: string | undefined,
): Promise<Result<number>> {
  if (named === undefined)
    return failed('invalid_args', 'Missing handle: name a Resource, for example @img1.')
  const handle = named.startsWith('@') ? named : `@${named}`
  const before = await session.resources()
  if (!before.ok) return before
  const dropped = await session.dropResource(handle)
  if (!dropped.ok) return dropped
  const was = before.value.find(({ descriptor }) => descriptor.handle === handle)
  const output = { session_id: session.id, dropped: handle }
  return answer(world, output, () => droppedWords(was, handle))
}

function droppedWords(was: ListedResource | undefined, handle: string): string {
  const name = was === undefined ? handle : `${handle} ${resourceName(was.descriptor)}`
  if (was?.state === 'dropped') return `${name} is already dropped.\n`
  return `Dropped ${name}: its bytes are never sent to a model again. Messages about it and its stored bytes are kept.\n`
}

function noSuchAction(): Failed {
  return failed('invalid_args', 'Unknown action. The only action is drop.', {}, [
    { action: 'show_help', command: 'hawser resources --help' },
  ])
}
