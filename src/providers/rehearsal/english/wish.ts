import { edit } from './edit.ts'
import { looksLikePath } from './words/file-names.ts'
import { literalsIn } from './words/literals.ts'
import { commands } from './words/openings.ts'
import { phrase } from './words/phrase.ts'
import { NOTHING, type Context, type Reading } from './reading.ts'
import { means, run } from './run.ts'
import { write } from './write.ts'

/** What a sentence wants without a verb that asks for it. Only what stands in quotes counts here. */
export function wish(said: string, context: Context): Reading {
  const changed = SHOULD_BE.exec(said)
  if (changed !== null) {
    const [, every = '', before = '', inside = '', after = '', within = ''] = changed
    const named = literalsIn(said.slice(0, changed.index), context.literals).map(({ text }) => text)
    const it = named.some(looksLikePath) ? named.filter(looksLikePath) : context.it
    return edit(`${every}${before} to ${after}${inside}${within}`, { ...context, it }, 'change')
  }
  const arrow = ARROW.exec(said)
  if (arrow !== null) return edit(said, context, 'change')
  const filled = SHOULD_HOLD.exec(said)
  if (filled !== null) return write(`${filled[2] ?? ''} to ${filled[1] ?? ''}`, context, 'write')
  const command = means(said)
  return command === undefined || !commands(said) ? NOTHING : run(command, context, 'run')
}

const SHOULD =
  '(?:should|must|ought to|needs? to|has to|have to|shall)(?: (?:really|actually|instead|always))?'
const SHOULD_BE = phrase`
  (?:^|(?<=[:,;]\s))({DET})(?:word |text |string |line |name |phrase |heading |title )?({TEXT})
  ( in .+?)? ${SHOULD} (?:be|read|say|become|be called|be changed to|be replaced (?:with
  |by)) ({TEXT})( in .+)?$`
const ARROW = phrase`^\S+(?: \S+){0,5} (?:->|→|=>) \S+(?: \S+){0,5} in {DET}(?:{FILE} )?{NAME}$`
const SHOULD_HOLD = phrase`
  ^(?:{DET}(?:{FILE} )?(?:called |named )?)({NAME}|it|the file|that file) ${SHOULD} (?:contain|say
  |read|hold|have)(?: {DET}(?:text|words?|line|contents?))?:? ({TEXT})$`
