/** Whether a word is the name of a file or folder, or a pattern of such names. */
export function nameKind(word: string): 'path' | 'glob' | undefined {
  if (NO_NAME.test(word)) return undefined
  if (word.includes('*')) return /^\*+[^./]*$/.test(word) ? undefined : 'glob'
  return NAMES.some((form) => form.test(word)) ? 'path' : undefined
}

/** In quotes, a name may contain spaces. */
export function looksLikePath(text: string): boolean {
  if (text.includes('\n') || text.length > 400) return false
  if (!text.includes(' ')) return nameKind(text) === 'path'
  return /\S\/\S|\S\/$|\.[a-z]\w{0,5}$/i.test(text) && !/ --?\w/.test(text)
}

/** Punctuation after a name belongs to the sentence. */
export function withoutEndMarks(typed: string): string {
  if (HERE_OR_ABOVE.test(typed)) return typed
  return typed.replace(/(?:['’]s?)?[.,;:!?)\]>…'’]*$/, '')
}

/** Numbers, words such as "and/or" or "e.g.", and characters that a name cannot contain. */
const NO_NAME =
  /^[\d./,:-]*\d[\d./,:-]*$|^(?:e\.g|i\.e|[ap]\.m|u\.s|n\/a|w\/o|i\/o|\w+\/or|he\/she|yes\/no|on\/off|true\/false|read\/write)$|[()=;|&$]|:\/\/|^-|^[^\p{L}\p{N}_.~/\\*[{]/iu
const HERE_OR_ABOVE = /^\.{1,2}\/?$/
const NAMES = [
  HERE_OR_ABOVE,
  // Something with a slash in it.
  /^~?\/|^\.{1,2}\/|[\p{L}\p{N}_)]\/|^[a-z]:\\|\w\\\w/iu,
  /^\.[a-z][\w.-]*$/i,
  // With an extension, and perhaps with lines: `a.ts:10-20`.
  /^[^.@][^:@]*\.[a-z][a-z0-9]{0,9}(?::\d+(?:[-–]\d+)?)?$/i,
  /^(?:Makefile|Dockerfile|Gemfile|Rakefile|Procfile|Justfile|LICENSE|README|CHANGELOG|NOTICE)$/,
]
