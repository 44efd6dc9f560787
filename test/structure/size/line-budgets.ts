import { linesUnder } from '../file-checks.ts'
import { codeOf, isTest, type Tree } from '../source.ts'

/** How many lines a folder may have, and why it may have more than it had when that was measured. */
interface LineBudget {
  /** What the folder had when the budget was set; `npm run structure -- --budgets` prints the current lines. */
  readonly measured: number
  /** What was added to the budget since. Without a reason, a folder gets no lines. */
  readonly raised?: readonly { readonly by: number; readonly reason: string }[]
}

/** Beyond what was measured, for fixes. A feature needs a raise. */
const MARGIN = 0.03

/** The folders of `src` without tests, and `rehearse` with its data. */
const LINE_BUDGETS: Readonly<Record<string, LineBudget>> = {
  'src/blobs': { measured: 627 },
  'src/compose': {
    measured: 661,
    raised: [
      { by: 15, reason: 'snapshots of a workspace that are loaded on demand' },
      { by: 14, reason: 'the setting engine chooses the store of frames' },
      { by: 15, reason: 'the choice of an engine by its name' },
      { by: 20, reason: 'a sandbox that is loaded on demand can be prepared' },
      {
        by: 60,
        reason:
          'the engine of blobs and of records of Instances, and attachments without a Session',
      },
    ],
  },
  'src/context': {
    measured: 1_874,
    raised: [{ by: 55, reason: 'facts of a branch that the person leaves' }],
  },
  'src/encoding': { measured: 2_636 },
  'src/history': {
    measured: 2_523,
    raised: [
      {
        by: 110,
        reason: 'what redo reverses after conflicts and crashes, and what snapshots do not cover',
      },
      {
        by: 180,
        reason: 'the steps of tools and commands, composed by path, and what can be redone',
      },
      { by: 150, reason: 'what going back withdraws: messages and their attachments' },
    ],
  },
  'src/host': {
    measured: 14_032,
    raised: [
      {
        by: 150,
        reason: 'objects of git that are put back whole, checked within limits, and swept',
      },
      {
        by: 1_900,
        reason: 'snapshots: the walk, its index, packs, ignore rules, objects of git, restoration',
      },
      {
        by: 240,
        reason: 'drafts and waiting messages on disk, and the files of the app for browsers',
      },
      { by: 250, reason: 'headers and responses that do not load fetch, and kept compiled code' },
      { by: 250, reason: 'sandboxes that are prepared before their command is known' },
      { by: 230, reason: 'on which device a lost socket is, so that toolchains are not searched' },
      {
        by: 280,
        reason: 'what people type: its history and drafts, their editor, and suspending the chat',
      },
      { by: 200, reason: 'copying to the clipboard with the program that a machine has' },
      { by: 260, reason: 'records of the bot, its chats and what was sent to them' },
    ],
  },
  'src/log': {
    measured: 2_872,
    raised: [
      { by: 400, reason: 'ports with their contracts, and files behind them' },
      { by: 1_050, reason: 'forks: lineages, their creation, and deleting what others share' },
    ],
  },
  'src/model': {
    measured: 4_598,
    raised: [
      { by: 120, reason: 'the Event of a snapshot, and what a snapshot has at a path' },
      { by: 80, reason: 'drafts and waiting messages, which clients send and servers keep' },
    ],
  },
  'src/policy': { measured: 2_681 },
  'src/presenters': {
    measured: 23_616,
    raised: [
      { by: 420, reason: 'redo, undo onwards and with force, and files over HTTP' },
      {
        by: 1_300,
        reason:
          'the live parts of the chat: activity, status line, transcript, queue, approval of plans',
      },
      {
        by: 2_300,
        reason:
          'the input of the chat: undo, cut and paste, chips, vim keys, history, drafts, pickers, menus',
      },
      {
        by: 1_100,
        reason:
          'commands of the chat for costs, caching, exports, copies and new Sessions, and their names in notices',
      },
      { by: 800, reason: 'going back before a message, and families of Sessions, in each face' },
      {
        by: 3_400,
        reason:
          'the gateway to Telegram: pairing, albums, downloads, formatting, delivery that survives kills; and its five commands',
      },
      {
        by: 640,
        reason: 'HTTP routes of drafts, waiting messages, pages of a Log and completion',
      },
      {
        by: 800,
        reason:
          'colours of code, themes, changed words, wrapped tables, and answers formatted by run',
      },
    ],
  },
  'src/prompt': {
    measured: 1_448,
    raised: [{ by: 50, reason: 'the summary of a branch that the person leaves' }],
  },
  'src/providers': { measured: 7_232 },
  'src/request': { measured: 1_312 },
  'src/resources': { measured: 2_465 },
  'src/session': {
    measured: 10_501,
    raised: [
      { by: 250, reason: 'forks and rewinding' },
      {
        by: 420,
        reason: 'undo, redo and diff over snapshots, and snapshots around commands',
      },
      { by: 550, reason: 'restoring files over a lineage, and what a left branch did' },
    ],
  },
  'src/skills': { measured: 1_736 },
  'src/tether': {
    measured: 8_830,
    raised: [{ by: 420, reason: 'frames behind a port, with its contract and a store in files' }],
  },
  'src/tools': { measured: 2_582 },
  'src/turn': {
    measured: 4_650,
    raised: [
      {
        by: 40,
        reason: 'moved files, and paths that are not covered, around commands',
      },
      { by: 220, reason: 'snapshots before and after a command' },
    ],
  },
  rehearse: { measured: 4_863 },
}

export function budgetOffences(
  tree: Tree,
  budgets: Readonly<Record<string, LineBudget>> = LINE_BUDGETS,
): string[] {
  const folders = budgetFolders(tree)
  return [
    ...folders
      .filter((folder) => budgets[folder] === undefined)
      .map((folder) => `${folder} has no budget in line-budgets.ts`),
    ...Object.entries(budgets).flatMap(([folder, budget]) => {
      if (!folders.includes(folder))
        return [`line-budgets.ts names ${folder}, which does not exist`]
      const lines = linesOf(tree, folder)
      const limit = limitOf(budget)
      const vague = (budget.raised ?? []).some(({ reason }) => !/\w+ \w+ \w+/.test(reason))
      return [
        ...(lines > limit
          ? [
              `${folder} has ${lines} lines, its budget is ${limit}; remove some, or raise it with a reason`,
            ]
          : []),
        ...(vague ? [`the budget of ${folder} is raised without a reason`] : []),
      ]
    }),
  ]
}

/** The rows of `LINE_BUDGETS` with the lines of today and without raises, to be pasted over it. */
export function budgetRows(tree: Tree): string[] {
  return budgetFolders(tree).map((folder) => {
    const key = /^\w+$/.test(folder) ? folder : `'${folder}'`
    return `  ${key}: { measured: ${String(linesOf(tree, folder)).replace(/(?<=\d)(?=(\d{3})+$)/g, '_')} },`
  })
}

/** The lines of a folder that has a budget: of `src`, those of code without tests; of `rehearse`, also of its data. */
export function linesOf(tree: Tree, folder: string): number {
  return linesUnder(folder === 'rehearse' ? tree : codeOf(tree), folder)
}

function budgetFolders(tree: Tree): string[] {
  const paths = [...codeOf(tree).keys()].filter((path) => !isTest(path))
  const inSource = paths.flatMap((path) => /^src\/[^/]+(?=\/)/.exec(path)?.[0] ?? [])
  const rehearse = paths.some((path) => path.startsWith('rehearse/')) ? ['rehearse'] : []
  return [...new Set(inSource)].toSorted().concat(rehearse)
}

function limitOf({ measured, raised = [] }: LineBudget): number {
  return raised.reduce((sum, { by }) => sum + by, Math.ceil(measured * (1 + MARGIN)))
}
