import { foldedSegments } from './folded-name.ts'

/**
 * Files that run later, or that instruct agents. Policy and sandbox read only this table; files that git reads are in
 * `git-places.ts`.
 *
 * `asks`: a tool asks before it writes the file, in every mode, at any depth, even if it does not exist yet. At the
 * root of the workspace a command cannot change it, and a new one is moved aside; deeper, it stays and is reported.
 * `named`: ordinary work. It is allowed, and the summary of the Turn reports it.
 */
export interface ProtectedName {
  /** A name with slashes matches consecutive segments; `*` matches within one segment. */
  readonly name: string
  readonly rule: 'asks' | 'named'
  /** Completes "`<path>`: ". */
  readonly reason: string
}

const SHELL = 'a shell runs it when it starts or ends'
const DESKTOP = 'the desktop runs it at login'
const EDITOR = 'an editor runs what it says when the folder is opened'
const AGENT = 'coding agents take instructions or commands from it'
const TOOL = 'a development tool runs what it says'
const REPL = 'an interpreter runs it when it starts'
const HOOK = 'git hooks run it'
const CI = 'it runs in CI'
const BUILD = 'builds and package managers run it'

function entries(
  rule: ProtectedName['rule'],
  reason: string,
  names: readonly string[],
): ProtectedName[] {
  return names.map((name) => ({ name, rule, reason }))
}

export const PROTECTED_NAMES: readonly ProtectedName[] = [
  ...entries('asks', 'it is the folder of Hawser itself', ['.hawser']),
  ...entries('asks', SHELL, [
    '.bashrc',
    '.bashrc.d',
    '.bash_profile',
    '.bash_login',
    '.bash_logout',
    '.bash_aliases',
    '.profile',
    '.zshrc',
    '.zshenv',
    '.zprofile',
    '.zlogin',
    '.zlogout',
    '.kshrc',
    '.mkshrc',
    '.cshrc',
    '.tcshrc',
    '.login',
    '.logout',
    '.config/fish',
    '.config/nushell',
    '.config/powershell',
    '.oh-my-zsh',
  ]),
  // A key binding in it can type and run a command.
  ...entries('asks', 'key bindings in it can run commands', ['.inputrc']),
  ...entries('asks', DESKTOP, [
    '.xprofile',
    '.xinitrc',
    '.xsession',
    '.xsessionrc',
    '.config/autostart',
    '.config/systemd',
    '.config/environment.d',
    '.local/share/applications',
    'Library/LaunchAgents',
  ]),
  ...entries('asks', 'programs in it are found by name', ['.local/bin']),
  ...entries('asks', 'it decides who may log in, or what ssh runs', [
    '.ssh/authorized_keys',
    '.ssh/authorized_keys2',
    '.ssh/config',
    '.ssh/rc',
    '.ssh/environment',
  ]),
  ...entries('asks', 'git reads configuration from it', ['.gitconfig', '.config/git']),
  ...entries('asks', EDITOR, [
    '.vscode',
    '*.code-workspace',
    '.vscode-server',
    '.idea',
    '.fleet',
    '.zed',
    '.nova',
    '.vimrc',
    '.gvimrc',
    '.nvimrc',
    '.nvim.lua',
    '.exrc',
    '_vimrc',
    '.vim',
    '.config/nvim',
    '.emacs',
    '.emacs.d',
    '.config/emacs',
    '.dir-locals.el',
    '.dir-locals-2.el',
    '.config/zed',
    '.config/helix',
    '.helix',
    '.devcontainer',
    '.devcontainer.json',
    '.gitpod.yml',
  ]),
  ...entries('asks', AGENT, [
    'AGENTS.md',
    'AGENTS.override.md',
    'CLAUDE.md',
    'CLAUDE.local.md',
    'GEMINI.md',
    'QWEN.md',
    '.agents',
    '.claude',
    '.claude.json',
    '.mcp.json',
    '.cursor',
    '.cursorrules',
    '.windsurf',
    '.windsurfrules',
    '.clinerules',
    '.roo',
    '.roorules',
    '.roomodes',
    '.kilocode',
    '.kiro',
    '.continue',
    '.continuerules',
    '.codex',
    '.gemini',
    '.qwen',
    '.opencode',
    'opencode.json',
    'opencode.jsonc',
    '.config/opencode',
    '.goosehints',
    '.aider.conf.yml',
    '.amp',
    '.junie',
    '.augment',
    '.github/copilot-instructions.md',
    '.github/instructions',
    '.github/prompts',
    '.github/chatmodes',
    '.github/agents',
  ]),
  ...entries('asks', TOOL, [
    '.envrc',
    '.direnvrc',
    '.config/direnv',
    '.mise.toml',
    'mise.toml',
    '.config/mise',
    '.tmux.conf',
    '.config/tmux',
    '.screenrc',
    '.npmrc',
    '.yarnrc',
    '.yarnrc.yml',
    '.pnpmfile.cjs',
    '.pnpmfile.mjs',
    '.cargo/config',
    '.cargo/config.toml',
    '.gdbinit',
    '.config/gdb',
    '.lldbinit',
    '.mailcap',
    '.lessfilter',
    '.docker/config.json',
  ]),
  ...entries('asks', REPL, [
    '.pythonrc',
    '.pythonrc.py',
    'sitecustomize.py',
    'usercustomize.py',
    '.pdbrc',
    '.pdbrc.py',
    '.ipython',
    '.Rprofile',
    '.Renviron',
    '.irbrc',
    '.pryrc',
    '.rdebugrc',
    '.psqlrc',
    '.sqliterc',
    '.mysqlrc',
    '.mongorc.js',
    '.guile',
    '.ghci',
    '.iex.exs',
    '.julia/config',
  ]),
  ...entries('asks', HOOK, [
    '.husky',
    '.githooks',
    'lefthook.yml',
    '.lefthook.yml',
    '.pre-commit-config.yaml',
    '.overcommit.yml',
  ]),
  ...entries('named', CI, [
    '.github/workflows',
    '.github/actions',
    '.gitlab-ci.yml',
    '.circleci',
    '.travis.yml',
    '.drone.yml',
    '.woodpecker',
    '.woodpecker.yml',
    '.buildkite',
    '.forgejo/workflows',
    '.gitea/workflows',
    'Jenkinsfile',
    'azure-pipelines.yml',
    'bitbucket-pipelines.yml',
    '.cirrus.yml',
    'appveyor.yml',
  ]),
  ...entries('named', BUILD, [
    'package.json',
    'Makefile',
    'GNUmakefile',
    'makefile',
    'justfile',
    'Taskfile.yml',
    'Rakefile',
    'Gemfile',
    'build.rs',
    'build.gradle',
    'build.gradle.kts',
    'settings.gradle',
    'settings.gradle.kts',
    'gradlew',
    'pom.xml',
    'mvnw',
    'setup.py',
    'setup.cfg',
    'pyproject.toml',
    'conftest.py',
    'noxfile.py',
    'tox.ini',
    'CMakeLists.txt',
    'meson.build',
    'configure',
    'binding.gyp',
    'Dockerfile',
    'docker-compose.yml',
    'compose.yaml',
    'flake.nix',
    'shell.nix',
    'default.nix',
    '.tool-versions',
    'rust-toolchain.toml',
  ]),
  // Git accepts `update = !command` of a submodule only in `.git/config`, not here.
  ...entries('named', 'git clones what it names', ['.gitmodules']),
  ...entries('named', 'it applies filters that git configuration defines', ['.gitattributes']),
]

interface Matcher {
  readonly entry: ProtectedName
  readonly segments: readonly string[]
}

const MATCHERS: readonly Matcher[] = PROTECTED_NAMES.map((entry) => ({
  entry,
  segments: foldedSegments(entry.name),
}))

/** Indexed by the first segment, because most names in a workspace match none. */
const BY_FIRST = new Map<string, Matcher[]>()
for (const matcher of MATCHERS) {
  const [first = ''] = matcher.segments
  if (!first.startsWith('*')) BY_FIRST.set(first, [...(BY_FIRST.get(first) ?? []), matcher])
}
const BY_ENDING = MATCHERS.filter(({ segments }) => segments[0]?.startsWith('*') === true)

const LAST_NAMES = new Set(
  MATCHERS.filter(({ entry }) => entry.rule === 'asks').map(
    ({ segments }) => segments.at(-1) ?? '',
  ),
)

/** The entry that matches a path relative to the workspace, in any spelling; `asks` takes precedence over `named`. */
export function protectedName(path: string): ProtectedName | undefined {
  const segments = foldedSegments(path)
  const found = segments.flatMap((_, at) => matchesAt(segments, at))
  return found.find(({ rule }) => rule === 'asks') ?? found[0]
}

/** The `asks` entry that matches the end of this path. `folded` is its last name, folded. */
export function protectedEnd(path: string, folded: string): ProtectedName | undefined {
  if (!LAST_NAMES.has(folded) && endingWith(folded).length === 0) return undefined
  const segments = foldedSegments(path)
  return MATCHERS.find(({ entry, segments: wanted }) => {
    const at = segments.length - wanted.length
    return entry.rule === 'asks' && at >= 0 && matchesAt(segments, at).includes(entry)
  })?.entry
}

/** The names to look for at the root of a workspace, as paths of folded segments. */
export function rootPaths(rule: ProtectedName['rule']): readonly string[] {
  return MATCHERS.filter(({ entry }) => entry.rule === rule).map(({ segments }) =>
    segments.join('/'),
  )
}

function matchesAt(segments: readonly string[], at: number): ProtectedName[] {
  const first = segments[at] ?? ''
  return [...(BY_FIRST.get(first) ?? []), ...endingWith(first)]
    .filter(({ segments: wanted }) =>
      wanted.every((segment, i) => i === 0 || segments[at + i] === segment),
    )
    .map(({ entry }) => entry)
}

function endingWith(folded: string): readonly Matcher[] {
  return BY_ENDING.filter(({ segments }) => folded.endsWith(segments[0]?.slice(1) ?? ''))
}
