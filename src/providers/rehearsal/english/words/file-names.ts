/** What a word is the name of, if it is one: a file or folder, many files, something on the net. */
export function nameKind(word: string): 'path' | 'glob' | 'link' | undefined {
  if (LINK.test(word)) return 'link'
  if (NO_NAMES.has(word.toLowerCase()) || NEVER_IN_NAMES.test(word)) return undefined
  if (word.includes('*')) return EMPHASIS.test(word) ? undefined : 'glob'
  if (HERE_OR_ABOVE.test(word)) return 'path'
  if (NUMBER.test(word)) return undefined
  return FOLDERS.test(word) || HIDDEN.test(word) || CUSTOMARY.has(word) || WITH_EXTENSION.test(word)
    ? 'path'
    : undefined
}

/** Looks like the name of a file with an extension, or like a path. Between quotes it may have blanks. */
export function looksLikePath(text: string): boolean {
  if (text.includes('\n') || text.trim() === '') return false
  if (!text.includes(' ')) return nameKind(text) === 'path'
  return /\S\/\S|\S\/$|\.[a-z]\w{0,5}$/i.test(text) && !/ --?\w/.test(text)
}

/** Punctuation after a name is the sentence's, and so is the 's of "a.txt's". */
export function withoutEndMarks(typed: string): string {
  const bare = typed.replace(/['’]s?(?=[.,;:!?)\]>]*$)/, '')
  if (HERE_OR_ABOVE.test(bare)) return bare
  const trimmed = bare.replace(/[.,;:!?)\]>…]+$/, '')
  return trimmed.includes('{') ? trimmed : trimmed.replace(/\}+$/, '')
}

const LINK = /^[a-z][a-z0-9+.-]*:\/\/\S/i
const NEVER_IN_NAMES = /[()=;|&$]|^-|^[^\p{L}\p{N}_.~/\\@*[{]/u
const EMPHASIS = /^\*+$|^\*\*?[\w' -]+\*\*?$/
const HERE_OR_ABOVE = /^\.{1,2}\/?$/
const NUMBER = /^[\d./,:-]*$/
const FOLDERS = /^~?\/|^\.{1,2}\/|[\p{L}\p{N}_)]\/|^[a-z]:\\|\w\\\w/iu
const HIDDEN = /^\.[a-z][\w.-]*$/i
const WITH_EXTENSION = /^[^.@][^:@]*\.[a-z][a-z0-9]{0,9}(?::L?\d+(?:[-–]L?\d+)?)?$/i

/** They look like names and are words. */
const NO_NAMES = new Set(
  (
    'e.g i.e a.m p.m u.s n/a w/o i/o and/or either/or he/she his/her s/he yes/no on/off ' +
    'true/false read/write input/output client/server'
  ).split(' '),
)

/** Files that go without an extension by custom. */
const CUSTOMARY = new Set(
  (
    'Makefile makefile Dockerfile dockerfile Gemfile Rakefile Procfile Jenkinsfile Vagrantfile ' +
    'Justfile justfile Caddyfile Brewfile LICENSE LICENCE README CHANGELOG AUTHORS CODEOWNERS ' +
    'NOTICE CONTRIBUTING'
  ).split(' '),
)
