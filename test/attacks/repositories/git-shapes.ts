/** Ways to make a person's git run a program, by file contents. MARK is a program that leaves a mark, EV a folder. */

/** A configuration, and whether `git status` runs something because of it. */
export interface ConfigShape {
  readonly name: string
  readonly text: string
  /** Other files that belong to it, relative to the work tree. */
  readonly files?: Readonly<Record<string, string>>
  /** `git status` itself runs it; other keys need other commands. */
  readonly runs: boolean
}

const HOOK = '#!/bin/sh\nexec MARK\n'

export const DANGEROUS: readonly ConfigShape[] = [
  { name: 'a file system monitor', text: '[core]\n\tfsmonitor = MARK\n', runs: true },
  { name: 'one in capitals', text: '[CORE]\n\tFsMonitor = MARK\n', runs: true },
  { name: 'one on the line of its section', text: '[core] fsmonitor = MARK\n', runs: true },
  { name: 'one in quotes', text: '[core]\n\tfsmonitor = "MARK"\n', runs: true },
  { name: 'one over two lines', text: '[core]\n\tfsmonitor = \\\nMARK\n', runs: true },
  { name: 'one behind a byte order mark', text: '\ufeff[core]\n\tfsmonitor = MARK\n', runs: true },
  { name: 'one with carriage returns', text: '[core]\r\n\tfsmonitor = MARK\r\n', runs: true },
  {
    name: 'one behind a comment that looks like a line',
    text: '[core]\n; x \\\n\tfsmonitor = MARK\n',
    runs: true,
  },
  {
    name: 'one after a harmless value with a backslash',
    text: '[user]\n\tname = a\\\\\n[core]\n\tfsmonitor = MARK\n',
    runs: true,
  },
  {
    name: 'hooks in another folder',
    text: '[core]\n\thooksPath = EV/hooks\n',
    files: { 'EV/hooks/post-index-change': HOOK },
    runs: true,
  },
  {
    name: 'an included file',
    text: '[include]\n\tpath = ROOT/EV/more\n',
    files: { 'EV/more': '[core]\n\tfsmonitor = MARK\n' },
    runs: true,
  },
  {
    name: 'a file included on a condition',
    text: '[includeIf "gitdir:**"]\n\tpath = ROOT/EV/more\n',
    files: { 'EV/more': '[core]\n\tfsmonitor = MARK\n' },
    runs: true,
  },
  {
    name: 'a filter',
    text: '[filter "x"]\n\tclean = MARK\n',
    files: { '.gitattributes': '* filter=x\n' },
    runs: false,
  },
  { name: 'an alias', text: '[alias]\n\tst = "!MARK"\n', runs: false },
  { name: 'a pager', text: '[core]\n\tpager = MARK\n', runs: false },
  { name: 'an editor', text: '[core]\n\teditor = MARK\n', runs: false },
  { name: 'a command for ssh', text: '[core]\n\tsshCommand = MARK\n', runs: false },
  { name: 'a command for a proxy', text: '[core]\n\tgitProxy = MARK\n', runs: false },
  { name: 'a password prompt', text: '[core]\n\taskPass = MARK\n', runs: false },
  { name: 'an outer diff', text: '[diff]\n\texternal = MARK\n', runs: false },
  { name: 'a text conversion', text: '[diff "x"]\n\ttextconv = MARK\n', runs: false },
  { name: 'a merge driver', text: '[merge "x"]\n\tdriver = MARK\n', runs: false },
  { name: 'a merge tool', text: '[mergetool "x"]\n\tcmd = MARK\n', runs: false },
  { name: 'a credential helper', text: '[credential]\n\thelper = !MARK\n', runs: false },
  { name: 'a program that signs', text: '[gpg]\n\tprogram = MARK\n', runs: false },
  { name: 'a program that signs by ssh', text: '[gpg "ssh"]\n\tprogram = MARK\n', runs: false },
  { name: 'a remote by a helper', text: '[remote "o"]\n\turl = ext::MARK\n', runs: false },
  { name: 'a remote of an unknown kind', text: '[remote "o"]\n\turl = mark://x\n', runs: false },
  { name: 'an option as a remote', text: '[remote "o"]\n\turl = -uMARK\n', runs: false },
  { name: 'an upload program', text: '[remote "o"]\n\tuploadpack = MARK\n', runs: false },
  { name: 'a remote helper', text: '[remote "o"]\n\tvcs = mark\n', runs: false },
  { name: 'a branch of a helper', text: '[branch "m"]\n\tremote = ext::MARK\n', runs: false },
  { name: 'an update command', text: '[submodule "s"]\n\tupdate = !MARK\n', runs: false },
  { name: 'another address', text: '[url "ext::MARK"]\n\tinsteadOf = https://\n', runs: false },
  { name: 'an allowed transport', text: '[protocol "ext"]\n\tallow = always\n', runs: false },
  { name: 'a command of a sequence', text: '[sequence]\n\teditor = MARK\n', runs: false },
  { name: 'a work tree outside', text: '[core]\n\tworktree = /etc\n', runs: false },
  { name: 'a key nobody knows', text: '[future]\n\trun = MARK\n', runs: false },
]

export const HARMLESS: readonly ConfigShape[] = [
  { name: 'what init writes', text: '[core]\n\trepositoryformatversion = 0\n\tbare = false\n' },
  { name: 'a name and an address', text: '[user]\n\tname = A B\n\temail = a@b\n' },
  { name: 'a remote by https', text: '[remote "o"]\n\turl = https://example.org/x.git\n' },
  { name: 'a remote by ssh', text: '[remote "o"]\n\turl = git@example.org:x/y.git\n' },
  { name: 'a remote on this disk', text: '[remote "o"]\n\turl = ../lib\n' },
  {
    name: 'what clone writes',
    text: '[remote "origin"]\n\turl = /srv/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n',
  },
  { name: 'a submodule', text: '[submodule "s"]\n\turl = ../lib\n\tactive = true\n' },
  { name: 'a sparse checkout', text: '[core]\n\tsparseCheckout = true\n' },
  { name: 'a comment', text: '# nothing\n[core]\n\tbare = false\n; at all\n' },
].map((shape) => ({ ...shape, runs: false }))

/** Folders that git could take for a git directory, and the person's current folder. */
export const PLACES: Readonly<Record<string, string>> = {
  'the root': '.git',
  'a folder': 'sub/.git',
  'a deep folder': 'a/b/c/.git',
  'a submodule': '.git/modules/sub',
  'a submodule in a folder': '.git/modules/libs/sub',
  'a work tree': '.git/worktrees/w',
}

/** Files of a git directory that a tool may not write without asking. */
export const GIT_FILES = [
  'config',
  'config.worktree',
  'commondir',
  'gitdir',
  'hooks/pre-commit',
  'hooks/post-index-change',
  'hooks/deep/er',
] as const

/** Other names that some file system treats as the same. */
export const SPELLINGS = [
  '.GIT',
  '.Git ',
  '.git.',
  'git~1',
  '.g\u200cit',
  '.git::$INDEX_ALLOCATION',
]
