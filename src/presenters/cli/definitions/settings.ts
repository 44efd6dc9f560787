import { command, JSON_OPTION, WORKSPACE_OPTION, YES_OPTION } from '../world/command.ts'

export const MODELS = command({
  name: 'models',
  summary: 'list the known models with their limits and prices',
  options: [
    { flags: '--provider <name>', help: 'list only the models of this provider' },
    JSON_OPTION,
  ],
  examples: ['hawser models', 'hawser models --provider anthropic --json'],
})

export const DOCTOR = command({
  name: 'doctor',
  summary: 'check this machine and this folder, and suggest fixes',
  options: [
    { flags: '--bundle', help: 'print a report without secrets or paths, safe to paste' },
    WORKSPACE_OPTION,
    JSON_OPTION,
  ],
  examples: ['hawser doctor', 'hawser doctor --bundle > report.txt'],
})

export const CONFIG_GET = command({
  name: 'config get',
  summary: 'show settings and where each comes from',
  args: [{ name: '[key]', help: 'name of a setting, for example limits.provider_calls' }],
  options: [WORKSPACE_OPTION, JSON_OPTION],
  examples: ['hawser config get', 'hawser config get permission'],
})

export const CONFIG_SET = command({
  name: 'config set',
  summary: 'change a setting, or reset it if no value is given',
  args: [
    { name: '<key>', help: 'name of the setting, for example limits.provider_calls' },
    { name: '[value]', help: 'the new value; `-` reads it from standard input' },
  ],
  options: [
    { flags: '--here', help: 'set it for this workspace instead of for your user' },
    WORKSPACE_OPTION,
    JSON_OPTION,
  ],
  examples: [
    'hawser config set permission auto',
    'hawser config set providers.anthropic.key - < key.txt',
    'hawser config set display.colour never --here',
  ],
})

export const TRUST = command({
  name: 'trust',
  summary: 'trust the settings or instructions of this workspace, or a foreign Session',
  args: [{ name: '[session]', help: 'the Session to trust (default: trust the settings)' }],
  options: [
    {
      flags: '--instructions',
      help: 'trust the project instructions that apply in this folder, as they are now',
    },
    YES_OPTION,
    WORKSPACE_OPTION,
    JSON_OPTION,
  ],
  examples: [
    'hawser trust',
    'hawser trust --instructions',
    'hawser trust ses_01kg8m2q3r4s5t6v7w8x9y0z12 --yes',
  ],
})

export const SHELLS = ['bash', 'zsh', 'fish'] as const

export const COMPLETIONS = command({
  name: 'completions',
  summary: 'print a shell completion script',
  args: [{ name: '<shell>', help: 'bash, zsh or fish', words: SHELLS }],
  options: [JSON_OPTION],
  examples: ['source <(hawser completions bash)', 'hawser completions fish | source'],
})
