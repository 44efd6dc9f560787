import { command, JSON_OPTION, OPTIONAL_SESSION, WORKSPACE_OPTION } from '../world/command.ts'

export const UNDO = command({
  name: 'undo',
  summary: 'restore the files that a Turn wrote or edited',
  details: `Covers what the tools write and edit changed. What commands changed (of the model, your own, or of a Skill without a sandbox) is not recorded: it stays, and undo names the commands. If commands ran since the last Turn that wrote or edited files, nothing is undone until you name that Turn or confirm it at the terminal.`,
  args: [
    OPTIONAL_SESSION,
    { name: '[turn]', help: 'id or number of a Turn (default: the last one that changed files)' },
  ],
  options: [WORKSPACE_OPTION, JSON_OPTION],
  examples: ['hawser undo', 'hawser undo 3', 'hawser undo latest 3'],
})

export const DIFF = command({
  name: 'diff',
  summary: 'show the file changes of a Session or of one Turn',
  details: `Covers what the tools write and edit changed, without what was undone. What commands changed is not recorded; they are named on standard error.`,
  args: [OPTIONAL_SESSION, { name: '[turn]', help: 'id or number of a Turn (default: all)' }],
  options: [WORKSPACE_OPTION, JSON_OPTION],
  examples: ['hawser diff', 'hawser diff 3'],
})
