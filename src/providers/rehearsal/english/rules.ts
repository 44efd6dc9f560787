import type { Context, Reading } from './call.ts'
import { attach, edit, read, write } from './files.ts'
import { list, search } from './find.ts'
import { history } from './history.ts'
import { phrase } from './phrase.ts'
import { question } from './question.ts'
import { run } from './run.ts'
import { skill } from './skill.ts'
import * as verbs from './verbs.ts'
import { view } from './view.ts'

/** The meaning of a step by the first rule that matches; `undefined` if none does. */
export function readingOf(step: string, context: Context): Reading | undefined {
  const bare = step.replace(/[\s.!?…]+$/, '')
  for (const [form, rule] of RULES) {
    const [, words] = form.exec(bare) ?? []
    const reading = words === undefined ? undefined : rule(words.trim(), context, bare)
    if (reading !== undefined) return reading
  }
  return undefined
}

type Rule = (words: string, context: Context, step: string) => Reading | undefined

/** A rule receives the words after its verb. If a verb has two rules, the first that matches counts. */
const RULES: readonly (readonly [RegExp, Rule])[] = [
  [phrase`^(.+)$`, view],
  [phrase`^(.+)$`, history],
  [phrase`^(.+)$`, skill],
  [after(verbs.READ), read],
  [after('list|ls'), list],
  [phrase`^(?:${verbs.READ})(?!\w)(.*(?:files|{FOLDER}|everything|{GLOB}).*)$`, list],
  [after(verbs.SEARCH), search],
  [after(verbs.WRITE), write],
  [phrase`^((?:${verbs.EDIT}|in)(?!\w).*)$`, edit],
  [after(verbs.RUN), run],
  [after('attach'), attach],
  [phrase`^(.+)$`, question],
]

function after(verb: string): RegExp {
  return phrase`^(?:${verb})(?!\w|-)[:,]?(.*)$`
}
