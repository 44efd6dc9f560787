import { command, JSON_OPTION, OPTIONAL_SESSION, WORKSPACE_OPTION } from '../world/command.ts'

const FORCE_OPTION = {
  flags: '--force',
  help: 'also restore files that something else changed since',
} as const

export const UNDO = command({
  name: 'undo',
  summary: 'restore the files that a Turn changed',
  details: `Covers what the tools write and edit changed, and what commands changed: Hawser takes a snapshot of the workspace before and after each command that can write, the model's and your own. Without a Turn, the last one that changed anything is undone, or your own command after it. To take that back: hawser redo.

Snapshots do not cover ignored files, nested repositories, sockets and files over 100 MiB. If the changes of a command are not known, undo names it and never goes back to an older Turn by itself.

A file that something else changed since is left alone, and the exit code is 1; at the terminal, you are asked about it.`,
  args: [
    OPTIONAL_SESSION,
    { name: '[turn]', help: 'id or number of a Turn (default: the last one that changed files)' },
  ],
  options: [
    {
      flags: '--to <turn>',
      help: 'restore the state before this Turn: undo it and everything after it',
    },
    FORCE_OPTION,
    WORKSPACE_OPTION,
    JSON_OPTION,
  ],
  examples: ['hawser undo', 'hawser undo 3', 'hawser undo --to 3', 'hawser undo latest 3'],
})

export const REDO = command({
  name: 'redo',
  summary: 'reverse the last undo',
  details: `Several undos are reversed one after the other, the last one first. After a new change to files, there is nothing to redo.`,
  args: [OPTIONAL_SESSION],
  options: [FORCE_OPTION, WORKSPACE_OPTION, JSON_OPTION],
  examples: ['hawser redo'],
})

export const DIFF = command({
  name: 'diff',
  summary: 'show the file changes of a Session or of one Turn',
  details: `Covers what the tools write and edit and what commands changed, without what was undone. Commands whose changes are not known are named on standard error. Keys are redacted.`,
  args: [OPTIONAL_SESSION, { name: '[turn]', help: 'id or number of a Turn (default: all)' }],
  options: [
    {
      flags: '--now',
      help: 'compare with the files as they are now, not as the Session left them',
    },
    WORKSPACE_OPTION,
    JSON_OPTION,
  ],
  examples: ['hawser diff', 'hawser diff 3', 'hawser diff --now'],
})
