import { failed, ok, type Result } from '../../../../model/errors.ts'
import { sentences } from '../../screen/rows.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

const USAGE = 'Use /queue, /queue edit N, /queue move N M, /queue remove N or /queue clear.'

/** Lists the queue, or edits, moves or removes a message in it. */
export async function queueCommand(
  { queue, columns }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  const said = (text: string) => sentences(text, { columns, first: '  ' })
  const list = () =>
    queue.length === 0
      ? said('The queue is empty. Tab queues a message while a Turn runs.')
      : queue.texts.flatMap((text, at) => sentences(text, { columns, first: `  ${at + 1}. ` }))
  const [word = '', first = '', second = ''] = argument.split(/\s+/)
  const number = Number(first)
  const none = () => failed('invalid_args', `There is no message ${first} in the queue. ${USAGE}`)
  switch (word) {
    case '':
      return ok({ rows: list() })
    case 'edit': {
      const text = queue.remove(first === '' ? queue.length : number)
      return text === undefined ? none() : ok({ rows: [], draft: text })
    }
    case 'move':
      return queue.move(number, Number(second)) ? ok({ rows: list() }) : none()
    case 'remove': {
      const text = queue.remove(number)
      return text === undefined ? none() : ok({ rows: said(`Removed: ${text}`) })
    }
    case 'clear': {
      const all = queue.clear()
      return ok({ rows: all.flatMap((text) => said(`Removed: ${text}`)) })
    }
    default:
      return failed('invalid_args', USAGE)
  }
}
