/**
 * One `section.subsection.key = value` of git configuration. Section and key are lower-case, because git ignores their
 * case.
 */
export interface GitSetting {
  readonly section: string
  /** Quoted, as in `[url "https://x"]`. */
  readonly subsection?: string | undefined
  readonly key: string
  /** A key without a value is true. */
  readonly value: string
}

/**
 * Parses git configuration strictly: `undefined` for anything that git itself would not write, so that git and this
 * parser never disagree about a file.
 */
export function gitSettings(text: string): readonly GitSetting[] | undefined {
  if (UNUSUAL.test(text)) return undefined
  const settings: GitSetting[] = []
  let section: Pick<GitSetting, 'section' | 'subsection'> | undefined
  for (const line of text.split('\n')) {
    const header = HEADER.exec(line)
    if (header !== null) {
      const [, name = '', sub] = header
      section = { section: name.toLowerCase(), subsection: sub?.replaceAll(/\\(.)/g, '$1') }
      continue
    }
    if (BLANK.test(line)) continue
    const setting = SETTING.exec(line)
    if (setting === null || section === undefined) return undefined
    const [, key = '', raw] = setting
    const value = raw === undefined ? 'true' : unquoteValue(raw)
    if (value === undefined) return undefined
    settings.push({ ...section, key: key.toLowerCase(), value })
  }
  return settings
}

// Git writes no control characters except tab and line feed, and no byte order mark.
// eslint-disable-next-line no-control-regex
const UNUSUAL = /[\0-\b\v-\x1f\x7f\ufeff\ufffd]/
const HEADER = /^[ \t]*\[([A-Za-z0-9-]+)(?:[ \t]+"((?:[^"\\]|\\["\\])*)")?\][ \t]*$/
const BLANK = /^[ \t]*(?:[#;].*)?$/
const SETTING = /^[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*?))?[ \t]*$/

/** `undefined` if quotes, escapes or comments are ambiguous. */
function unquoteValue(raw: string): string | undefined {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(raw)
  if (quoted !== null) return quoted[1]?.replaceAll(/\\(.)/g, '$1')
  return /["\\#;]/.test(raw) ? undefined : raw
}

/** The findings about a new configuration file, and the paths it refers to. */
export interface JudgedConfiguration {
  /** Keys that are not known to be harmless; `?` if the file cannot be parsed reliably. */
  readonly offending: readonly string[]
  /** Paths relative to the git directory that it refers to; they must stay inside. */
  readonly leadsTo: readonly string[]
}

/** Checks configuration by its keys. Settings that were already in `earlier` are accepted. Pure. */
export function judgeConfiguration(text: string, earlier = ''): JudgedConfiguration {
  const settings = gitSettings(text)
  if (settings === undefined) return { offending: ['?'], leadsTo: [] }
  const before = new Set((gitSettings(earlier) ?? []).map((one) => JSON.stringify(one)))
  const added = settings.filter((one) => !before.has(JSON.stringify(one)))
  return {
    offending: [...new Set(added.filter((one) => !isHarmless(one)).map(nameOf))],
    leadsTo: added.filter((one) => nameOf(one) === 'core.worktree').map(({ value }) => value),
  }
}

/**
 * Where existing configuration makes git read more: hooks, relative to the work tree, and included files, relative to
 * its folder.
 */
export function configuredLocations(text: string): {
  readonly hooks: readonly string[]
  readonly includes: readonly string[]
} {
  const settings = gitSettings(text) ?? looseSettings(text)
  const valuesOf = (wanted: (setting: GitSetting) => boolean) =>
    settings.filter(wanted).map(({ value }) => value)
  return {
    hooks: valuesOf((one) => nameOf(one) === 'core.hookspath'),
    includes: valuesOf(({ section, key }) => /^include(if)?$/.test(section) && key === 'path'),
  }
}

/** For a hand-written file: every line that looks like a setting. Finds at least what git would. */
function looseSettings(text: string): readonly GitSetting[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, key = '', value = ''] =
      /(?:^|\])[ \t]*([A-Za-z][\w-]*)[ \t]*=[ \t]*(.*?)[ \t]*$/.exec(line) ?? []
    const plain = value.replaceAll(/["\\]/g, '')
    const named = key.toLowerCase()
    if (named === 'hookspath')
      return [{ section: 'core', subsection: undefined, key: named, value: plain }]
    return named === 'path'
      ? [{ section: 'include', subsection: undefined, key: named, value: plain }]
      : []
  })
}

type Check = (value: string) => boolean

const anyValue: Check = () => true
const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value.toLowerCase())

/** Transports built into git; `helper::address` and unknown schemes run programs. */
export const isPlainUrl: Check = (value) =>
  !value.includes('::') &&
  !/^-|:\/\/-|@-/.test(value) &&
  (/^(https?|ssh|git|file|git\+ssh|ssh\+git):\/\//i.test(value) || !value.includes('://'))

/** A remote name; git also accepts a URL here. */
const isRemoteName: Check = (value) => /^(\.|\w[\w./-]*)$/.test(value)

/**
 * Keys that run nothing and refer to nothing, each with its allowed values. They are written by `git init`, `clone`,
 * `remote`, `branch`, `submodule`, `worktree`, `sparse-checkout`, and by people for their names and preferences. Any
 * other key may name a program, now or in a later git.
 */
const HARMLESS: Readonly<Record<string, Check>> = {
  // How the repository is stored.
  'core.repositoryformatversion': anyValue,
  'core.filemode': anyValue,
  'core.bare': anyValue,
  'core.logallrefupdates': anyValue,
  'core.ignorecase': anyValue,
  'core.precomposeunicode': anyValue,
  'core.symlinks': anyValue,
  'core.sharedrepository': anyValue,
  'core.sparsecheckout': anyValue,
  'core.sparsecheckoutcone': anyValue,
  'core.commitgraph': anyValue,
  'core.multipackindex': anyValue,
  'core.untrackedcache': anyValue,
  'core.splitindex': anyValue,
  'core.compression': anyValue,
  'core.abbrev': anyValue,
  'core.quotepath': anyValue,
  'core.autocrlf': anyValue,
  'core.eol': anyValue,
  'core.safecrlf': anyValue,
  'core.longpaths': anyValue,
  // Checked by the path that it refers to.
  'core.worktree': anyValue,
  // True or false controls git's own daemon; any other value is a program.
  'core.fsmonitor': oneOf('false'),
  'extensions.worktreeconfig': anyValue,
  'extensions.objectformat': anyValue,
  'extensions.refstorage': anyValue,
  'extensions.partialclone': isRemoteName,
  'extensions.relativeworktrees': anyValue,
  'index.version': anyValue,
  'index.threads': anyValue,
  'index.sparse': anyValue,
  'feature.manyfiles': anyValue,
  'gc.auto': anyValue,
  'lfs.repositoryformatversion': anyValue,
  // Remotes and branches.
  'remote.*.url': isPlainUrl,
  'remote.*.pushurl': isPlainUrl,
  'remote.*.fetch': anyValue,
  'remote.*.push': anyValue,
  'remote.*.tagopt': oneOf('--tags', '--no-tags'),
  'remote.*.prune': anyValue,
  'remote.*.prunetags': anyValue,
  'remote.*.mirror': anyValue,
  'remote.*.promisor': anyValue,
  'remote.*.partialclonefilter': anyValue,
  'remote.*.skipdefaultupdate': anyValue,
  'remote.*.skipfetchall': anyValue,
  'remote.pushdefault': isRemoteName,
  'branch.*.remote': isRemoteName,
  'branch.*.pushremote': isRemoteName,
  'branch.*.merge': anyValue,
  'branch.*.rebase': anyValue,
  'branch.*.description': anyValue,
  'branch.autosetupmerge': anyValue,
  'branch.autosetuprebase': anyValue,
  'submodule.*.url': isPlainUrl,
  'submodule.*.path': anyValue,
  'submodule.*.active': anyValue,
  'submodule.*.branch': anyValue,
  'submodule.*.ignore': anyValue,
  'submodule.*.shallow': anyValue,
  'submodule.*.fetchrecursesubmodules': anyValue,
  // Any other value may be a `!command`.
  'submodule.*.update': oneOf('checkout', 'rebase', 'merge', 'none'),
  'submodule.active': anyValue,
  'submodule.recurse': anyValue,
  'submodule.fetchjobs': anyValue,
  'submodule.alternatelocation': anyValue,
  'submodule.alternateerrorstrategy': anyValue,
  // Identity and commit preferences.
  'user.name': anyValue,
  'user.email': anyValue,
  'author.name': anyValue,
  'author.email': anyValue,
  'committer.name': anyValue,
  'committer.email': anyValue,
  'init.defaultbranch': anyValue,
  'pull.rebase': anyValue,
  'pull.ff': anyValue,
  'push.default': anyValue,
  'push.autosetupremote': anyValue,
  'push.followtags': anyValue,
  'fetch.prune': anyValue,
  'fetch.prunetags': anyValue,
  'fetch.parallel': anyValue,
  'merge.ff': anyValue,
  'merge.conflictstyle': anyValue,
  'rebase.autostash': anyValue,
  'rebase.autosquash': anyValue,
  'rerere.enabled': anyValue,
  'diff.renames': anyValue,
  'diff.algorithm': anyValue,
  'diff.submodule': anyValue,
  'status.submodulesummary': anyValue,
  'status.showuntrackedfiles': anyValue,
  'log.date': anyValue,
  'color.ui': anyValue,
  'commit.gpgsign': oneOf('false'),
  'tag.gpgsign': oneOf('false'),
  'receive.denycurrentbranch': anyValue,
}

function isHarmless(setting: GitSetting): boolean {
  const name = nameOf(setting)
  const check = Object.hasOwn(HARMLESS, name) ? HARMLESS[name] : undefined
  return check?.(setting.value) === true
}

function nameOf({ section, subsection, key }: GitSetting): string {
  return subsection === undefined ? `${section}.${key}` : `${section}.*.${key}`
}

/** The path in a `.git` file, or in a `commondir` or `gitdir` file; `undefined` if the content has another form. */
export function locationIn(text: string, form: 'gitfile' | 'plain'): string | undefined {
  const line =
    form === 'gitfile' ? /^gitdir: ([^\n\r\0]+)\n*$/.exec(text) : /^([^\n\r\0]+)\n*$/.exec(text)
  return line?.[1]
}

/** Git runs a hook by its exact name, so the samples that `git init` copies never run. */
export function isSampleHook(name: string): boolean {
  return name.endsWith('.sample')
}
