import { instructionsSoFar, sameFacts } from '../history/instructions.ts'
import { ok, type Result } from '../model/errors.ts'
import { lateDrafts } from './open.ts'
import type { TurnParts } from './parts/turn-parts.ts'
import { currentInstructions } from './instructions/current-instructions.ts'

/**
 * Names the project instructions again, if they are others than before: after tool calls, which may have reached a folder
 * with its own, or changed some. `paths` are those that the calls declared.
 */
export async function nameInstructions(
  { log, tools }: Pick<TurnParts, 'log' | 'tools'>,
  paths: readonly string[],
): Promise<Result<void>> {
  const { instructions } = tools
  if (instructions === undefined) return ok(undefined)
  const events = log.events()
  const { late, isShown } = instructionsSoFar(events)
  if (late === undefined) return ok(undefined)
  const { redactor, folder } = instructions
  const put: typeof log.store.put = (bytes, type) => log.store.put(bytes, type)
  const found = await currentInstructions(
    instructions,
    events,
    [folder === '' ? '.' : folder, ...paths],
    { put, redactor },
  )
  if (!found.ok) return found
  const { facts, drafts } = found.value
  const { instructions: _named, more_instructions: _more, ...others } = late
  const next = { ...others, ...facts }
  const isNews = isShown ? !sameFacts(late, next) : facts.instructions !== undefined
  return isNews ? log.commit([...lateDrafts(next), ...drafts]) : ok(undefined)
}
