import { JSON_OPTION, WORKSPACE_OPTION, type Command, type Option } from './world/command.ts'

/** What a permission rule covers: exactly one of these, and `--in` only with `--command`. */
const RULE_OPTIONS: readonly Option[] = [
  { flags: '--prefix <words>', help: 'commands that start with these words' },
  { flags: '--command <text>', help: 'this exact command' },
  { flags: '--in <folder>', help: 'folder that the command runs in (default: the workspace)' },
  { flags: '--file <path>', help: 'changes to this file; the path is relative to the workspace' },
  { flags: '--folder <path>', help: 'changes to files in this folder, at any depth' },
  WORKSPACE_OPTION,
  JSON_OPTION,
]

/** The commands about permission rules. */
export const PERMISSION_COMMANDS: readonly Command[] = [
  {
    name: 'permissions',
    summary: 'list the permission rules of this workspace',
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
      'hawser permissions allow --prefix "git reset --hard"',
    ],
    load: async () => {
      const { runWith, ...rest } = await import('./commands/settings/permissions-add.ts')
      return { ...rest, run: runWith('allow') }
    },
  },
  {
    name: 'permissions deny',
    summary: 'deny a kind of command or file change; overrides every allow rule',
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
    args: [{ name: '<number>', help: 'number of the rule in `hawser permissions`' }],
    options: [WORKSPACE_OPTION, JSON_OPTION],
    examples: ['hawser permissions remove 2'],
    load: () => import('./commands/settings/permissions-remove.ts'),
  },
]
