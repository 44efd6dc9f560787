import { isJsonObject, parseJson } from '../../../encoding/json.ts'
import type { Context, Reading } from './call.ts'
import { asMeant } from './literals.ts'
import { phrase } from './phrase.ts'
import * as verbs from './verbs.ts'

/** "Use the skill review", "hydrate changes of review", "read `notes.md` of the skill review": calls about Skills. */
export function skills(step: string, { literals }: Context): Reading | undefined {
  const meant = (words: string | undefined) => asMeant(words ?? '', literals)
  const [, used] = USE.exec(step) ?? []
  if (used !== undefined) return callOf('skill_view', { name: meant(used) })
  const [, file, owner] = FILE.exec(step) ?? []
  if (file !== undefined) return callOf('skill_view', { name: meant(owner), path: meant(file) })
  const [, source, skill, given] = HYDRATE.exec(step) ?? []
  if (source === undefined) return undefined
  const args = given === undefined ? undefined : parseJson(meant(given))
  return callOf('hydrate_context', {
    skill: meant(skill),
    context_source_id: meant(source),
    ...(isJsonObject(args) ? { args } : {}),
  })
}

function callOf(name: string, args: Readonly<Record<string, unknown>>): Reading {
  return { calls: [{ name, arguments: args }] }
}

const WORD = String.raw`({ANY}|[^\s\uE000-\uF3FF]+)`
const USE = phrase`^(?:use|apply|activate|follow|view) {THE}skill ${WORD}$`
const FILE = phrase`^(?:${verbs.READ}|view) {THE}({NAME}) (?:of|from|in) {THE}skill ${WORD}$`
const HYDRATE = phrase`
  ^(?:hydrate|fetch {THE}context) {THE}(?:context )?${WORD} (?:of|for|from) {THE}(?:skill )?${WORD}
  (?: with ({TEXT}))?$`
