import {
  command,
  INSTANCE_OPTION,
  JSON_OPTION,
  OPTIONAL_SESSION,
  WORKSPACE_OPTION,
} from '../world/command.ts'

/** The formats of an export. */
export const EXPORT_FORMATS = ['markdown', 'json', 'html'] as const

export const LOG_SHOW = command({
  name: 'log show',
  summary: 'show the Events of a Session',
  args: [OPTIONAL_SESSION],
  options: [
    { flags: '--turn <turn>', help: 'show only this Turn, by id or by number, starting at 1' },
    { flags: '--follow', help: 'keep printing new Events until Ctrl-C' },
    INSTANCE_OPTION,
    WORKSPACE_OPTION,
    { flags: '--json', help: 'print the Events as JSON Lines' },
  ],
  examples: ['hawser log show', 'hawser log show latest --follow --json'],
})

export const LOG_VERIFY = command({
  name: 'log verify',
  summary: 'check the integrity of a Log, byte by byte',
  details:
    'Computes every hash again and rebuilds the state of every checkpoint from the Events before it. The exit code is 1 if anything differs from what was recorded. A request that a version with other prompt texts wrote cannot be rebuilt: it is reported as not comparable, with that version, and the exit code is 0 if nothing else differs.',
  args: [OPTIONAL_SESSION],
  options: [
    { flags: '--requests', help: 'also rebuild every request and compare its hash' },
    INSTANCE_OPTION,
    WORKSPACE_OPTION,
    JSON_OPTION,
  ],
  examples: ['hawser log verify --requests'],
})

export const LOG_SALVAGE = command({
  name: 'log salvage',
  summary: 'copy the intact Events of a damaged Log into a new Session',
  args: [OPTIONAL_SESSION],
  options: [WORKSPACE_OPTION, JSON_OPTION],
  examples: ['hawser log salvage ses_01kg8m2q3r4s5t6v7w8x9y0z12'],
})

export const LOG_EXPORT = command({
  name: 'log export',
  summary: 'export a Session as Markdown, JSON or one self-contained HTML page',
  args: [OPTIONAL_SESSION],
  options: [
    {
      flags: '--format <format>',
      help: 'output format (default: markdown)',
      choices: EXPORT_FORMATS,
    },
    {
      flags: '--output <file>',
      help: 'write to this file, which must not exist, instead of standard output',
    },
    INSTANCE_OPTION,
    WORKSPACE_OPTION,
    {
      flags: '--json',
      help: 'print the result as JSON; without --output, same as --format json',
    },
  ],
  examples: [
    'hawser log export --format html --output session.html',
    'hawser log export latest > session.md',
  ],
})
