import {
  command,
  INSTANCE_OPTION,
  JSON_OPTION,
  OPTIONAL_SESSION,
  WORKSPACE_OPTION,
  YES_OPTION,
} from '../world/command.ts'

export const SESSIONS = command({
  name: 'sessions',
  summary: 'list the Sessions of this folder',
  options: [INSTANCE_OPTION, WORKSPACE_OPTION, JSON_OPTION],
  examples: [
    'hawser sessions',
    'hawser sessions --instance painter',
    'hawser sessions delete ses_01kg8m2q3r4s5t6v7w8x9y0z12',
  ],
})

export const SESSIONS_DELETE = command({
  name: 'sessions delete',
  summary: 'delete a Session permanently',
  args: [{ name: '<session>', help: 'id of a Session, the end of it, or `latest`' }],
  options: [YES_OPTION, WORKSPACE_OPTION, JSON_OPTION],
  examples: ['hawser sessions delete latest --yes'],
})

export const FORK = command({
  name: 'fork',
  summary: 'continue a Session in a new one that shares it up to a point',
  details: `The new Session shares the Log of the old one, by reference: nothing is copied, and its first request is the one that the old Session would send, so the prompt cache of the provider still has it. What happens in one Session changes nothing in the other.

For a point inside a Turn, the end of the Turn before it is used. A Session can be forked while a Turn runs in it.`,
  args: [OPTIONAL_SESSION],
  options: [
    { flags: '--at <event>', help: 'share the Events up to this number (default: all)' },
    { flags: '--turn <number>', help: 'share the Turns up to this one, counted from 1' },
    WORKSPACE_OPTION,
    JSON_OPTION,
  ],
  examples: ['hawser fork', 'hawser fork latest --turn 2', 'hawser fork latest --at 41 --json'],
})

export const REWIND = command({
  name: 'rewind',
  summary: 'go back before one of your messages, in a new Session, with or without the files',
  details: `The new Session shares the Log of the old one up to the message of that Turn; the message and its attachments are printed, to be changed and sent again. The old Session stays as it is. \`hawser log show\` numbers the Turns.

With --files, the files that this Turn and all later ones wrote or edited are restored, inherited Turns included. What commands changed is not recorded: it stays, and the commands are named. If something else changed a file since, you are asked; without a terminal, nothing is done, the files are named, and the exit code is 1.`,
  args: [OPTIONAL_SESSION],
  options: [
    { flags: '--turn <number>', help: 'the Turn whose message is withdrawn, counted from 1' },
    { flags: '--files', help: 'also restore the files' },
    {
      flags: '--summary',
      help: 'pin a summary of what is left behind for the model: files, commands, decisions',
    },
    { flags: '--force', help: 'with --files: overwrite files that something else changed since' },
    WORKSPACE_OPTION,
    JSON_OPTION,
  ],
  examples: ['hawser rewind latest --turn 3', 'hawser rewind latest --turn 3 --files --json'],
})

export const GREP = command({
  name: 'grep',
  summary:
    'search the messages, tool calls, outputs and text attachments of all Sessions in this folder; each line names Session, Turn, Event and type',
  args: [{ name: '<pattern>', help: 'a regular expression' }],
  options: [
    { flags: '-i, --ignore-case', help: 'case-insensitive search' },
    { flags: '-F, --fixed', help: 'treat the pattern as literal text' },
    { flags: '--session <id>', help: 'search only this Session' },
    {
      flags: '--limit <n>',
      help: 'stop after this many matches (default: 1000)',
      default: '1000',
    },
    INSTANCE_OPTION,
    WORKSPACE_OPTION,
    JSON_OPTION,
  ],
  examples: ['hawser grep "TODO|FIXME"', 'hawser grep -F "a.b(c)" --session latest --json'],
})

export const COMPACT = command({
  name: 'compact',
  summary: 'shorten what the model sees; the Log keeps everything',
  details: `Pointers replace long tool outputs. If that is not enough, a summary replaces old Turns; pinned texts, your decisions and open tasks stay verbatim.

If there is little to gain, nothing is written and the exit code is 0, so that a script can run this at any time. If the result would exceed the target (half of the conversation, or 40 % of the context window if that is less), nothing is written either, but the exit code is 1: what follows may not fit.`,
  args: [OPTIONAL_SESSION],
  options: [
    { flags: '--dry-run', help: 'print what would change, without writing anything' },
    { flags: '--undo', help: 'undo the last compaction that is in force' },
    {
      flags: '--summary <kind>',
      help: 'who writes a summary, if one is needed (default: the setting compaction.summary)',
      choices: ['excerpts', 'model'],
    },
    WORKSPACE_OPTION,
    JSON_OPTION,
  ],
  examples: ['hawser compact --dry-run', 'hawser compact latest', 'hawser compact latest --undo'],
})

export const PIN = command({
  name: 'pin',
  summary: 'pin text that the model always sees word for word; list pins, or remove one',
  details: `The model sees pinned text word for word in every request from then on, also after any compaction. All pinned texts of a Session together have at most 8 KiB.

A single argument that names no Session is the text, and the Session is the latest. Without a text, the pinned texts are listed with their numbers. Text whose pin is removed stays where the model has already seen it, with a note, until the next summary omits it.`,
  args: [
    OPTIONAL_SESSION,
    { name: '[text...]', help: 'the text to pin; if omitted, the pinned texts are listed' },
  ],
  options: [
    { flags: '--remove <number>', help: 'remove the pin with this number' },
    WORKSPACE_OPTION,
    JSON_OPTION,
  ],
  examples: [
    'hawser pin "The release is on Friday."',
    'hawser pin',
    'hawser pin latest --remove 1',
  ],
})

export const REQUEST = command({
  name: 'request',
  summary: 'print the exact next request to the model without sending it',
  args: [OPTIONAL_SESSION],
  options: [
    {
      flags: '--prompt <text>',
      help: 'the prompt; read from standard input if omitted',
    },
    {
      flags: '--dialect <name>',
      help: "messages, responses, chat or rehearsal (default: that of the Session's provider)",
    },
    WORKSPACE_OPTION,
    JSON_OPTION,
  ],
  examples: ['hawser request --prompt "And now?"'],
})

export const RESOURCES = command({
  name: 'resources',
  summary: 'list the Resources of a Session, or stop sending one to the model',
  args: [
    OPTIONAL_SESSION,
    {
      name: '[action]',
      help: '`drop`: never send the bytes of this Resource again',
      words: ['drop'],
    },
    { name: '[handle]', help: 'handle of the Resource, for example @img1' },
  ],
  options: [WORKSPACE_OPTION, JSON_OPTION],
  examples: ['hawser resources', 'hawser resources drop @img1'],
})

export const GC = command({
  name: 'gc',
  summary: 'delete stored blobs that no Session refers to',
  options: [
    { flags: '--dry-run', help: 'print what would be deleted, without deleting it' },
    WORKSPACE_OPTION,
    JSON_OPTION,
  ],
  examples: ['hawser gc --dry-run'],
})

export const USAGE = command({
  name: 'usage',
  summary: 'show the tokens and cost of the Sessions in this folder, by day and model',
  options: [
    { flags: '--since <date>', help: 'count from this day, for example 2026-01-31' },
    { flags: '--session <id>', help: 'count only this Session' },
    WORKSPACE_OPTION,
    JSON_OPTION,
  ],
  examples: ['hawser usage --since 2026-01-01'],
})
