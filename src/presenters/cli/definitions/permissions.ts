import { command, JSON_OPTION, WORKSPACE_OPTION, type Option } from '../world/command.ts'

/** What a permission rule covers: exactly one of these, and `--in` only with `--command`. */
const RULE_OPTIONS = [
  { flags: '--prefix <words>', help: 'commands that start with these words' },
  { flags: '--command <text>', help: 'this exact command' },
  { flags: '--in <folder>', help: 'folder that the command runs in (default: the workspace)' },
  { flags: '--file <path>', help: 'changes to this file; the path is relative to the workspace' },
  { flags: '--folder <path>', help: 'changes to files in this folder, at any depth' },
  WORKSPACE_OPTION,
  JSON_OPTION,
] as const satisfies readonly Option[]

export const PERMISSIONS = command({
  name: 'permissions',
  summary: 'list the permission rules of this workspace',
  options: [WORKSPACE_OPTION, JSON_OPTION],
  examples: ['hawser permissions', 'hawser permissions remove 2'],
})

export const PERMISSIONS_ALLOW = command({
  answer: 'allow',
  name: 'permissions allow',
  summary: 'allow a kind of command or file change without asking',
  options: RULE_OPTIONS,
  examples: [
    'hawser permissions allow --prefix "npm test"',
    'hawser permissions allow --folder src/generated',
    'hawser permissions allow --prefix "git reset --hard"',
  ],
})

export const PERMISSIONS_DENY = command({
  answer: 'deny',
  name: 'permissions deny',
  summary: 'deny a kind of command or file change; overrides every allow rule',
  options: RULE_OPTIONS,
  examples: [
    'hawser permissions deny --prefix "git push"',
    'hawser permissions deny --file package-lock.json',
  ],
})

export const PERMISSIONS_REMOVE = command({
  name: 'permissions remove',
  summary: 'remove a rule of this workspace',
  args: [{ name: '<number>', help: 'number of the rule in `hawser permissions`' }],
  options: [WORKSPACE_OPTION, JSON_OPTION],
  examples: ['hawser permissions remove 2'],
})
