import { JSON_OPTION, WORKSPACE_OPTION, type Command, type Option } from './world/command.ts'

/** What a permission rule covers; exactly one, and `--in` only with a command. */
const RULE_OPTIONS: readonly Option[] = [
  { flags: '--prefix <words>', help: 'every command that begins with these words' },
  { flags: '--command <text>', help: 'this command, word for word' },
  { flags: '--in <folder>', help: 'folder that the command runs in; the workspace by default' },
  { flags: '--file <path>', help: 'changes of this file, relative to the workspace' },
  { flags: '--folder <path>', help: 'changes of files in this folder, at any depth' },
  WORKSPACE_OPTION,
  JSON_OPTION,
]

/** The commands about what is allowed and denied in advance. */
export const PERMISSION_COMMANDS: readonly Command[] = [
  {
    name: 'permissions',
    summary: 'list what is allowed and denied in advance in this workspace',
    options: [WORKSPACE_OPTION, JSON_OPTION],
    examples: ['hawser permissions', 'hawser permissions remove 2'],
    load: () => import('./commands/settings/permissions.ts'),
  },
  {
    name: 'permissions allow',
    summary: 'allow a kind of command or file change without asking',
    options: RULE_OPTIONS,
    examples: [
      'hawser permissions allow --prefix "npm test"',
      'hawser permissions allow --folder src/generated',
    ],
    load: async () => {
      const { runWith, ...rest } = await import('./commands/settings/permissions-add.ts')
      return { ...rest, run: runWith('allow') }
    },
  },
  {
    name: 'permissions deny',
    summary: 'deny a kind of command or file change; this wins over every rule that allows',
    options: RULE_OPTIONS,
    examples: [
      'hawser permissions deny --prefix "git push"',
      'hawser permissions deny --file package-lock.json',
    ],
    load: async () => {
      const { runWith, ...rest } = await import('./commands/settings/permissions-add.ts')
      return { ...rest, run: runWith('deny') }
    },
  },
  {
    name: 'permissions remove',
    summary: 'remove a rule of this workspace',
    args: [{ name: '<number>', help: 'as `hawser permissions` lists it' }],
    options: [WORKSPACE_OPTION, JSON_OPTION],
    examples: ['hawser permissions remove 2'],
    load: () => import('./commands/settings/permissions-remove.ts'),
  },
]
