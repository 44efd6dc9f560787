import type { Context, Reading } from './call.ts'
import { asMeant } from './literals.ts'
import { phrase } from './phrase.ts'
import * as verbs from './verbs.ts'

/** "Use the Skill review", "read guide.md of the Skill review", "fetch the context changes of the Skill review". */
export function skill(step: string, context: Context): Reading | undefined {
  const meant = (words: string) => asMeant(words, context.literals)
  const [, used] = USE.exec(step) ?? []
  if (used !== undefined)
    return { calls: [{ name: 'skill_view', arguments: { name: meant(used) } }] }
  const [, path, owner] = FILE.exec(step) ?? []
  if (path !== undefined && owner !== undefined) {
    const args = { name: meant(owner), path: meant(path) }
    return { calls: [{ name: 'skill_view', arguments: args }] }
  }
  const [, source, from] = HYDRATE.exec(step) ?? []
  if (source === undefined || from === undefined) return undefined
  const args = { skill: meant(from), context_source_id: meant(source) }
  return { calls: [{ name: 'hydrate_context', arguments: args }] }
}

const WORD = String.raw`({ANY}|[\w-]+)`
const USE = phrase`^(?:use|apply|activate) {THE}skill (?:named )?${WORD}$`
const FILE = phrase`^(?:${verbs.READ}) {THE}(?:file )?({NAME}) (?:of|from) {THE}skill ${WORD}$`
const HYDRATE = phrase`
  ^(?:hydrate|fetch) {THE}(?:context )?(?:source )?${WORD} (?:of|for|from) {THE}(?:skill )?${WORD}$`
