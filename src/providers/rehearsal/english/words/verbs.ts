import { phrase, startingWith } from './phrase.ts'

/** What a verb asks for, before its object is looked at. */
export type Family = 'see' | 'list' | 'find' | 'write' | 'edit' | 'run' | 'attach' | 'plan'

export type VerbForm = 'base' | 'ing' | 'done'

export interface VerbFound {
  readonly family: Family
  /** As it stands in the text, particle included, in small letters. */
  readonly verb: string
  readonly rest: string
}

/** The verb that a text starts with. Of several the longest counts: "look for" before "look". */
export function verbAt(text: string, form: VerbForm): VerbFound | undefined {
  const found = FAMILIES.flatMap((family) => {
    const start = startingWith(FORMS[family][form], text)
    if (start === undefined) return []
    const verb = start.found[0].trim().toLowerCase().replaceAll(/\s+/g, ' ')
    return [{ family, verb, rest: start.rest.trimStart() }]
  })
  return found.toSorted((a, b) => b.verb.length - a.verb.length)[0]
}

const QUALITY = '(?:(?:quick|close|closer|good|careful|short|brief|little) )?'

/** In base form; the first word of each is conjugated. */
const VERBS: Readonly<Record<Family, readonly string[]>> = {
  see: [
    'read(?: out| aloud| through| over| back| in)?',
    'open(?: up)?',
    'show',
    'print(?: out)?',
    'cat',
    'display',
    'view',
    'look (?:at|into|inside|over|through|in)',
    `take an?(?:other)? ${QUALITY}(?:look|peek|glance) (?:at|into|inside|in|through|over)`,
    `have an?(?:other)? ${QUALITY}(?:look|peek|glance|read) (?:at|into|inside|in|through|over|of)`,
    `have ${QUALITY}look (?:at|into|inside)`,
    'check(?: out)?',
    'inspect',
    'examine',
    'see',
    'review',
    'dump',
    'output',
    'fetch',
    'get',
    'give',
    'grab',
    'retrieve',
    'pull up',
    'bring up',
    'peek (?:at|into|inside)',
    'glance (?:at|over|into)',
    'go (?:through|over)',
    'skim(?: through)?',
    'study',
    'quote',
    'load',
    'present',
    'reveal',
    'recite',
    'share',
    'provide',
    'return',
    'consult',
    'summari[sz]e',
    'explain',
    'describe',
    'analy[sz]e',
    'compare',
    'browse',
    'want',
    'need',
    'require',
  ],
  list: ['list(?: out| up)?', 'ls', 'dir', 'enumerate'],
  find: [
    'find',
    'search(?: for| through| in| inside| across)?',
    'look (?:for|up)',
    'have a look for',
    'grep(?: for)?',
    'rg',
    'locate',
    'hunt(?: down| for)?',
    'seek(?: out)?',
    'scan',
    'track down',
    'dig (?:up|out|for)',
    'spot',
    'discover',
    'count',
    'check for',
  ],
  write: [
    'write(?: down| out| up)?',
    'create',
    'make',
    'save',
    'put',
    'store',
    'generate',
    'jot(?: down)?',
    'note(?: down)?',
    'touch',
    'produce',
    'compose',
    'place',
    'overwrite',
    'fill',
    'draft',
    'record',
    'drop',
    'add',
    'append',
    'insert',
    'prepend',
    'stick',
    'echo',
    'set up',
    'start',
  ],
  edit: [
    'replace',
    'change',
    'rename',
    'edit',
    'swap(?: out)?',
    'substitute',
    'turn',
    'correct',
    'fix',
    'update',
    'modify',
    'convert',
    'switch',
    'alter',
    'amend',
    'remove',
    'delete',
    'erase',
    'strip(?: out)?',
    'cut(?: out)?',
    'take out',
    'get rid of',
    'set',
    'move',
    'copy',
  ],
  run: [
    'run',
    'execute',
    'exec',
    'launch',
    'invoke',
    'try(?: out)?',
    'use',
    'perform',
    'fire off',
    'kick off',
    'issue',
    'evaluate',
    'do(?= {CODE})',
  ],
  attach: ['attach', 'enclose', 'send(?: me| us| over| along| back)?'],
  plan: ['plan'],
}

const FAMILIES: readonly Family[] = [
  'see',
  'list',
  'find',
  'write',
  'edit',
  'run',
  'attach',
  'plan',
]

const DOUBLED = new Set([
  'run',
  'grep',
  'swap',
  'get',
  'put',
  'cat',
  'jot',
  'cut',
  'dig',
  'skim',
  'scan',
  'drop',
  'strip',
  'spot',
  'grab',
  'plan',
])

const IRREGULAR: Readonly<Record<string, string>> = {
  write: 'written',
  read: 'read',
  find: 'found',
  make: 'made',
  run: 'run',
  put: 'put',
  see: 'seen',
  get: '(?:got|gotten)',
  give: 'given',
  take: 'taken',
  have: 'had',
  show: 'shown',
  cut: 'cut',
  seek: 'sought',
  bring: 'brought',
  go: 'gone',
  dig: 'dug',
  overwrite: 'overwritten',
  stick: 'stuck',
  do: 'done',
  set: 'set',
  send: 'sent',
}

const FORMS: Readonly<Record<Family, Readonly<Record<VerbForm, RegExp>>>> = {
  see: formsOf('see'),
  list: formsOf('list'),
  find: formsOf('find'),
  write: formsOf('write'),
  edit: formsOf('edit'),
  run: formsOf('run'),
  attach: formsOf('attach'),
  plan: formsOf('plan'),
}

function formsOf(family: Family): Record<VerbForm, RegExp> {
  return {
    base: anyOf(family, (word) => word),
    ing: anyOf(family, ingForm),
    done: anyOf(family, doneForm),
  }
}

function anyOf(family: Family, conjugate: (word: string) => string): RegExp {
  const forms = VERBS[family].map((verb) => {
    const [, word = '', particle = ''] = /^([a-z[\]]+)(.*)$/.exec(verb) ?? []
    return `${conjugate(word)}${particle}`
  })
  return phrase`(?:${forms.toSorted((a, b) => b.length - a.length).join('|')})(?![\w-])(?!')`
}

function ingForm(word: string): string {
  if (DOUBLED.has(word)) return `${word}${word.at(-1)}ing`
  return `${word.endsWith('e') && !word.endsWith('ee') ? word.slice(0, -1) : word}ing`
}

function doneForm(word: string): string {
  const irregular = IRREGULAR[word]
  if (irregular !== undefined) return irregular
  if (DOUBLED.has(word)) return `${word}${word.at(-1)}ed`
  return word.endsWith('e')
    ? `${word}d`
    : word.endsWith('y')
      ? `(?:${word.slice(0, -1)}ied|${word}ed)`
      : `${word}ed`
}
