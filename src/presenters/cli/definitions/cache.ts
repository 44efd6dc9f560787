import { command, JSON_OPTION, OPTIONAL_SESSION, WORKSPACE_OPTION } from '../world/command.ts'

export const CACHE_EXPLAIN = command({
  name: 'cache explain',
  summary: 'show how much of each request was cached, and where and why the prefix broke',
  args: [OPTIONAL_SESSION],
  options: [
    WORKSPACE_OPTION,
    { flags: '--json', help: 'print the requests as JSON Lines, then a summary' },
  ],
  examples: ['hawser cache explain', 'hawser cache explain latest --json'],
})

export const CACHE_PROBE = command({
  name: 'cache probe',
  summary: 'run the same prompts with one factor changed and compare what was cached',
  options: [
    {
      flags: '--vary <factor>',
      help: 'the factor to change (default: transport)',
      choices: ['transport', 'contract'],
      default: 'transport',
    },
    { flags: '--dry-run', help: 'print the plan without sending anything' },
    {
      flags: '--live',
      help: 'use your provider, which costs money, instead of the offline demo model',
    },
    JSON_OPTION,
  ],
  examples: [
    'hawser cache probe --dry-run',
    'hawser cache probe --vary contract',
    'hawser cache probe --vary transport --live --json',
  ],
})
