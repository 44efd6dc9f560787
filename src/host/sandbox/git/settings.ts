import type { GitSetting } from '../../../model/safety/git-configuration.ts'

/**
 * The settings a sandbox passes on from the user's configuration. All others stay outside: credentials and headers with
 * tokens on purpose, external programs because they are not available inside, signing because there is no key.
 */
interface PassedSection {
  readonly section: string
  /** Absent: every key. */
  readonly keys?: readonly string[]
  /** Keys in named subsections are passed on too. */
  readonly withSubsections?: true
  readonly value?: RegExp
  readonly why: string
}

function wordsOf(...lines: readonly string[]): string[] {
  return lines.join(' ').split(' ')
}

const PASSED: readonly PassedSection[] = [
  { section: 'user', keys: ['name', 'email', 'useconfigonly'], why: 'author and committer' },
  { section: 'author', keys: ['name', 'email'], why: 'author and committer' },
  { section: 'committer', keys: ['name', 'email'], why: 'author and committer' },
  { section: 'init', keys: ['defaultbranch', 'defaultobjectformat'], why: 'new repositories' },
  {
    section: 'core',
    keys: wordsOf(
      'autocrlf eol safecrlf whitespace quotepath abbrev commentchar ignorecase precomposeunicode',
      'filemode symlinks longpaths protecthfs protectntfs excludesfile attributesfile',
      'untrackedcache preloadindex checkstat trustctime logallrefupdates compression',
      'bigfilethreshold',
    ),
    why: 'how git compares and stores files',
  },
  { section: 'alias', value: /^[^!]/, why: "aliases of git's own commands" },
  { section: 'pull', why: 'how branches are merged' },
  { section: 'push', keys: ['default', 'autosetupremote', 'followtags'], why: 'what is pushed' },
  { section: 'fetch', why: 'what is fetched' },
  { section: 'branch', keys: ['autosetupmerge', 'autosetuprebase', 'sort'], why: 'new branches' },
  {
    section: 'merge',
    keys: ['conflictstyle', 'ff', 'renames', 'log', 'stat', 'autostash'],
    why: 'merges',
  },
  { section: 'rebase', why: 'how commits are rebased' },
  { section: 'rerere', why: 'recorded conflict resolutions' },
  { section: 'commit', keys: ['verbose', 'cleanup', 'status'], why: 'messages' },
  {
    section: 'tag',
    keys: ['sort', 'forcesignannotated'],
    value: /^(?!true)/,
    why: 'how tags are listed',
  },
  {
    section: 'diff',
    keys: wordsOf(
      'algorithm renames mnemonicprefix noprefix colormoved',
      'context interhunkcontext indentheuristic renamelimit submodule statgraphwidth',
    ),
    why: 'how changes are shown',
  },
  { section: 'log', why: 'how commits are shown' },
  { section: 'status', why: 'how the state is shown' },
  { section: 'stash', why: 'how the state is shown' },
  { section: 'column', why: 'how lists are shown' },
  { section: 'color', withSubsections: true, why: 'how text is shown' },
  { section: 'grep', why: 'how text is found' },
  { section: 'advice', why: 'hints' },
  { section: 'i18n', why: 'encodings' },
  { section: 'apply', why: 'patches' },
  { section: 'checkout', why: 'how branches are switched' },
  { section: 'clone', keys: ['defaultremotename'], why: 'new repositories' },
  { section: 'submodule', keys: ['recurse', 'fetchjobs'], why: 'submodules' },
  { section: 'protocol', withSubsections: true, why: 'which transports are allowed' },
  { section: 'safe', why: 'whose repositories are trusted' },
  { section: 'feature', why: 'feature defaults' },
  { section: 'index', why: 'the index' },
  { section: 'pack', why: 'the object store' },
  { section: 'gc', why: 'the object store' },
  {
    section: 'url',
    keys: ['insteadof', 'pushinsteadof'],
    withSubsections: true,
    why: 'URL aliases',
  },
  {
    section: 'filter',
    keys: ['clean', 'smudge', 'process', 'required'],
    withSubsections: true,
    value: /^(git-lfs [\w %-]+|true)$/,
    why: 'Git LFS: without it, large files would be committed in full',
  },
]

/** A URL with a user name and perhaps a password. */
const WITH_USER = /:\/\/[^/\s]*@/

/** Filters settings down to those a sandbox passes on. Pure. */
export function passedSettings(settings: readonly GitSetting[]): readonly GitSetting[] {
  return settings.filter(({ section, subsection, key, value }) => {
    if (WITH_USER.test(value) || WITH_USER.test(subsection ?? '') || value.includes('\0')) {
      return false
    }
    return PASSED.some(
      (rule) =>
        rule.section === section &&
        (rule.keys?.includes(key) ?? true) &&
        (rule.withSubsections === true || subsection === undefined) &&
        (rule.value?.test(value) ?? true),
    )
  })
}

/** The settings git would read from a file, up to the first line git rejects. Pure. */
export function parsedSettings(text: string): readonly GitSetting[] {
  const settings: GitSetting[] = []
  let place: Pick<GitSetting, 'section' | 'subsection'> | undefined
  for (let line of wholeLines(text)) {
    const header = HEADER.exec(line)
    if (header !== null) {
      const [whole, name = '', old, quoted] = header
      const below = quoted?.replaceAll(/\\(.)/g, '$1') ?? old?.toLowerCase()
      place = { section: name.toLowerCase(), ...(below === undefined ? {} : { subsection: below }) }
      line = line.slice(whole.length)
    }
    if (/^\s*([#;]|$)/.test(line)) continue
    const setting = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=(.*))?$/s.exec(line)
    const value = setting?.[2] === undefined ? 'true' : unquoteValue(setting[2])
    if (setting === null || place === undefined || value === undefined) return settings
    settings.push({ ...place, key: (setting[1] ?? '').toLowerCase(), value })
  }
  return settings
}

/** `[name]`, `[name.old]` or `[name "quoted"]`. */
const HEADER = /^\s*\[([A-Za-z0-9-]+)(?:\.([^\]"\s]+))?(?:[ \t]+"((?:[^"\\]|\\.)*)")?\]/

/** Lines, with continuation lines (a trailing backslash) joined. */
function wholeLines(text: string): readonly string[] {
  const lines: string[] = []
  let open = ''
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const goesOn = /(^|[^\\])(\\\\)*\\$/.test(line) && !/^\s*[#;]/.test(open + line)
    if (goesOn) open += line.slice(0, -1)
    else {
      lines.push(open + line)
      open = ''
    }
  }
  return open === '' ? lines : [...lines, open]
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  b: '\b',
  '\\': '\\',
  '"': '"',
}

function unquoteValue(raw: string): string | undefined {
  let value = ''
  let spaces = ''
  let inQuotes = false
  for (let at = 0; at < raw.length; at++) {
    const letter = raw.charAt(at)
    if (letter === '"') {
      inQuotes = !inQuotes
      value += spaces
      spaces = ''
    } else if (!inQuotes && (letter === '#' || letter === ';')) break
    else if (!inQuotes && /\s/.test(letter)) spaces += value === '' ? '' : letter
    else {
      const decoded = letter === '\\' ? ESCAPES[raw.charAt(++at)] : letter
      if (decoded === undefined) return undefined
      value += spaces + decoded
      spaces = ''
    }
  }
  return inQuotes ? undefined : value
}

/** Serializes settings as a git configuration file. Pure. */
export function settingsText(settings: readonly GitSetting[]): string {
  return settings
    .map(({ section, subsection, key, value }) => {
      const name = subsection === undefined ? section : `${section} "${escapeQuotes(subsection)}"`
      const spelt = escapeQuotes(value)
        .replaceAll('\n', '\\n')
        .replaceAll('\t', '\\t')
        .replaceAll('\b', '\\b')
      return `[${name}]\n\t${key} = "${spelt}"\n`
    })
    .join('')
}

function escapeQuotes(text: string): string {
  return text.replaceAll(/["\\]/g, '\\$&')
}
