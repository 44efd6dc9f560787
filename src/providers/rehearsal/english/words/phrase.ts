import { placeholders } from './literals.ts'

/**
 * A regular expression over masked text, in the words of this folder: a blank is any run of white space (` ?` also none), `'`
 * any apostrophe, and {NAME} and its like are the classes below. Line breaks are for the reader. Ignores case.
 */
export function phrase(source: TemplateStringsArray, ...parts: readonly string[]): RegExp {
  return compiled(String.raw(source, ...parts), 'is')
}

/** The same for finding every place where it fits. */
export function phrases(source: TemplateStringsArray, ...parts: readonly string[]): RegExp {
  return compiled(String.raw(source, ...parts), 'gis')
}

/** Rules are written where they are used; each is compiled once. */
const COMPILED = new Map<string, RegExp>()

function compiled(source: string, flags: string): RegExp {
  const key = `${flags} ${source}`
  const known = COMPILED.get(key) ?? new RegExp(spelledOut(source), flags)
  COMPILED.set(key, known)
  return known
}

function spelledOut(source: string): string {
  return withClasses(source)
    .replaceAll(/\n\s*/g, '')
    .replaceAll("'", "['’]")
    .replaceAll(' ?', '\\s*')
    .replaceAll(' ', '\\s+')
}

/** Classes may be made of classes. */
function withClasses(source: string): string {
  return source.replaceAll(/\{([A-Z]+)\}/g, (_, name: string) => {
    const known = CLASSES[name]
    if (known === undefined) throw new Error(`no class of words is called ${name}`)
    return withClasses(known)
  })
}

const anyLiteral = placeholders('fence', 'code', 'quote', 'path', 'glob', 'link')

const CLASSES: Readonly<Record<string, string>> = {
  ANY: anyLiteral,
  /** What can name a file. */
  NAME: placeholders('code', 'quote', 'path'),
  PATH: placeholders('path'),
  GLOB: placeholders('glob'),
  CODE: placeholders('code'),
  /** What can be a text or a command. */
  TEXT: placeholders('fence', 'code', 'quote'),
  /** A literal or a single bare word. */
  THING: `(?:${anyLiteral}|[\\w.@+#-]*\\w)`,
  /** Words that only point. */
  POINTER: String.raw`(?:the|an?|this|that|these|those|my|our|your|his|her|its|their|any|all|every
    |each|some|both|whole|entire|single|of)`,
  /** One of them. In a repeated group nothing else may begin like it, or time explodes; {FILE} must not stand there at all. */
  ADET: '{POINTER} ',
  DET: '(?:{ADET})*',
  NOUN: '(?:files?|documents?|scripts?|modules?|pages?)',
  FILE: '(?:(?:text |source |new |empty |blank |plain |small |little )*{NOUN})',
  FOLDER: '(?:sub)?(?:folders?|director(?:y|ies)|dirs?)',
  AND: '(?:,? (?:and(?: also)?|or|as well as|plus|&) |,\\s*)',
  /** What a file does with a text that stands in it. */
  HOLDS: String.raw`(?:(?:contain|mention|use|import|include(?!s? (?:all|sub|nested|hidden))
    |reference|call|define|have|hold|say|need|refer to|talk about|speak of|deal with)(?:s|es)?
    |has)(?!\w)(?! to(?!\w))`,
  HOLDING: String.raw`(?:containing|mentioning|using|importing|calling|defining|having|holding
    |saying|referring to|matching|match(?:es)?|including(?! (?:all|any|its|the|sub|nested|hidden
    |every))|with|where|in which)(?!\w)`,
  /** What a text does in a file, or has done to it. */
  OCCURS: String.raw`(?:(?:appear|occur|come up|show up|live|turn up|exist|happen)s?|(?:get|come
    |show|turn)s? (?:used|up))(?!\w)`,
  USED: String.raw`(?:(?:mention|use|define|declare|call|reference|import|set|handle|implement
    |find|locate|need|configure)(?:d|ed)?|found)(?!\w)`,
  MENTIONS: String.raw`(?:occurrences?|mentions?|references?|usages?|uses?|instances?|appearances?
    |match(?:es)?|calls?|hits?|callers?|definitions?|imports?)`,
}

/** What the text starts with, and what follows. Looks nowhere but at the start. */
export function startingWith(
  form: RegExp,
  text: string,
): { readonly found: RegExpExecArray; readonly rest: string } | undefined {
  const atStart = ANCHORED.get(form) ?? new RegExp(form.source, `${form.flags}y`)
  ANCHORED.set(form, atStart)
  atStart.lastIndex = 0
  const found = atStart.exec(text)
  return found === null ? undefined : { found, rest: text.slice(found[0].length) }
}

const ANCHORED = new Map<RegExp, RegExp>()

/** Without the punctuation that joins it to what stood before. */
export function pastMarks(text: string): string {
  return text.replace(/^[\s,:;!.…—–-]+/, '')
}
