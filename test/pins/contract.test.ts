import { expect, test } from 'vitest'
import { sha256 } from '../../src/encoding/hash.ts'
import { canonicalJson } from '../../src/encoding/json.ts'
import * as noteTag from '../../src/encoding/note-tag.ts'
import * as branches from '../../src/prompt/words/branches.ts'
import * as commands from '../../src/prompt/words/commands.ts'
import * as checkpoints from '../../src/prompt/words/checkpoint.ts'
import * as instructions from '../../src/prompt/words/instructions.ts'
import * as labels from '../../src/prompt/words/labels.ts'
import { LAYER_0 } from '../../src/prompt/words/layer0.ts'
import * as mentions from '../../src/prompt/words/mentions.ts'
import * as notes from '../../src/prompt/words/notes.ts'
import * as pdfPages from '../../src/prompt/words/pdf-pages.ts'
import * as resources from '../../src/prompt/words/resources.ts'
import * as results from '../../src/prompt/words/results.ts'
import * as skills from '../../src/prompt/words/skills.ts'
import * as summaries from '../../src/prompt/words/summary.ts'
import { CONTRACT_VERSION, WORDS_SHA256 } from '../../src/prompt/words/version.ts'
import { ATTACHMENT_CODES } from '../../src/model/attachment.ts'
import { LOSSES } from '../../src/model/events/loss.ts'
import { LIMITS } from '../../src/model/limits.ts'
import { DIALECT_NAMES, DIALECTS } from '../support/providers/dialects.ts'
import { generatedRequests } from '../support/history/generated-requests.ts'
import { sampleEvents } from '../support/history/sample-events.ts'

/** What a file of sentences exports, each rendered with facts that reach every branch of it. None can be omitted. */
type Rendered<Words> = Readonly<Record<keyof Words, readonly string[]>>

const say = sampleEvents()
const OUTCOMES = ['ok', 'failed', 'denied', 'unknown']

const RESULTS: Rendered<typeof results> = {
  NO_RESULT: [results.NO_RESULT],
  NO_OUTPUT: [results.NO_OUTPUT],
  outcomeLabel: OUTCOMES.map(results.outcomeLabel),
  resultText: OUTCOMES.flatMap((outcome) =>
    ['', 'text'].map((output) => results.resultText({ outcome, output })),
  ),
  elided: [results.elided({ seq: 57, name: 'read', output: 'é' })],
}

const LABELS: Rendered<typeof labels> = {
  HANDLE_FORM: [labels.HANDLE_FORM],
  DESCRIBED: [labels.DESCRIBED],
  VIEW_OF: [labels.VIEW_OF],
  VIEW_SHOWN: [labels.VIEW_SHOWN],
  VIEW_VISIBLE: [labels.VIEW_VISIBLE],
  VIEW_NOT_SHOWN: labels.VIEW_NOT_SHOWN,
  NOT_SHOWN: [labels.NOT_SHOWN],
  PAYLOAD_OF: [labels.PAYLOAD_OF],
  PAYLOAD_MISSING: [labels.PAYLOAD_MISSING],
  REJECTED: [labels.REJECTED],
  contentLabel: [labels.contentLabel('@txt1')],
  fenced: [labels.fenced('text')],
  NO_ANSWER: [labels.NO_ANSWER],
  BEFORE_NOT_SHOWN: [labels.BEFORE_NOT_SHOWN],
}

const TAG_SPELLINGS = [
  '<harness-note>',
  '</Harness-Note>',
  '<\\harness-note>',
  '< h\u200barness_note',
]

const NOTE_TAGS: Rendered<typeof noteTag> = {
  NOTE_TAG: [noteTag.NOTE_TAG],
  escapeNotes: TAG_SPELLINGS.map(noteTag.escapeNotes),
  originalText: TAG_SPELLINGS.map(noteTag.originalText),
}

const NOTES: Rendered<typeof notes> = {
  LATE_HEADING: [notes.LATE_HEADING],
  lateContext: say.late_context.map(({ data }) => notes.lateContext(data)),
  sentBy: ['text', ''].map((text) => notes.sentBy('A ["b"]\n', text, 64)),
  piped: ['one\ntwo\n', 'no newline'].map(notes.piped),
  embedded: ['one\ntwo\n', 'no newline'].map((text) => notes.embedded('a "b".ts', text)),
  presenterContext: [notes.presenterContext({ b: 'two\nlines', a: 'one' })],
  filesRestored: say.files_restored.map(({ data }) => notes.filesRestored(data)),
  turnEnded: say.turn_ended.map(({ data }) => notes.turnEnded(data) ?? ''),
  ANSWER_AGAIN: [notes.ANSWER_AGAIN],
}

const COMMAND = { command: 'npm "test"', output: 'é\n[exit code 0]\n' }

const COMMANDS: Rendered<typeof commands> = {
  personCommand: [
    { ...COMMAND, outcome: 'ok' } as const,
    { ...COMMAND, outcome: 'failed', folder: 'a b', output: 'no newline' } as const,
    { ...COMMAND, outcome: 'unknown', output: '' } as const,
  ].map(commands.personCommand),
  omittedCommands: [1, 2].map(commands.omittedCommands),
}

const FILE = { path: 'a "b".ts', kind: 'file', bytes: 9, from_line: 1 } as const

const MENTIONS: Rendered<typeof mentions> = {
  mention: [
    { ...FILE, to_line: 3, lines: 3 },
    { ...FILE, to_line: 1, lines: 1, charset: 'utf-16le' },
    { ...FILE, to_line: 3, lines: 3, unsaved: true },
    { ...FILE, to_line: 3, lines: 4, truncated: true },
    { ...FILE, to_line: 3, size_bytes: 99, truncated: true },
    { path: 'empty', kind: 'file', bytes: 0, lines: 0 } as const,
    { path: 'src', kind: 'folder', bytes: 9, from_line: 1, to_line: 2, lines: 2 } as const,
    { path: 'src', kind: 'folder', bytes: 0, lines: 0 } as const,
    { ...FILE, kind: 'folder', to_line: 2, lines: 3, truncated: true } as const,
  ].map(mentions.mention),
  notIncluded: [mentions.notIncluded([{ path: 'a\nb', reason: 'it is binary data' }])],
}

const TURN = { number: 3, request: 'moor "it"', answer: 'done', handles: [], calls: 0 }
const RANGE = { from_seq: 0, to_seq: 41 }

const CHECKPOINTS: Rendered<typeof checkpoints> = {
  checkpoint: say.history_compaction.map(({ data }) => checkpoints.checkpoint(data)),
  EXCERPTS: [checkpoints.EXCERPTS],
  omittedTurns: [1, 2].map(checkpoints.omittedTurns),
  earlierSummary: [checkpoints.earlierSummary(RANGE, 'two\nlines', 100)],
  DESCRIBING_LINE: [String(checkpoints.DESCRIBING_LINE)],
  turnExcerpt: [
    { ...TURN, status: 'completed' },
    { ...TURN, answer: '', handles: ['@img1', '@pdf2'], calls: 1, status: 'interrupted' },
    { ...TURN, calls: 2, status: 'failed' },
  ].map((facts) => checkpoints.turnExcerpt(facts, 8)),
  decision: [
    { decision: 'allowed', scope: 'once', what: 'bash', argument: 'ls "a"' } as const,
    { decision: 'allowed', scope: 'session', what: 'sending', argument: '@img1' } as const,
    { decision: 'denied', scope: 'workspace', what: 'bash', reason: 'too\nloud' } as const,
  ].map(checkpoints.decision),
  setting: [checkpoints.setting('mode', 'plan')],
  LOSSY: [checkpoints.LOSSY],
  lookUp: [checkpoints.lookUp(RANGE)],
  inactiveSkills: [['review'], ['review', 'a "b"']].map(checkpoints.inactiveSkills),
  DESCRIBED_ONLY: [checkpoints.DESCRIBED_ONLY],
  elidedOutputs: [1, 2].map(checkpoints.elidedOutputs),
  pinned: ['é\ntwo'].map(checkpoints.pinned),
  unpinned: ['a "b"\ntwo'].map(checkpoints.unpinned),
  tooManyPins: [1, 2].map(checkpoints.tooManyPins),
}

const SUMMARIES: Rendered<typeof summaries> = {
  SUMMARY_SECTIONS: summaries.SUMMARY_SECTIONS,
  SUMMARY_INSTRUCTION: [summaries.SUMMARY_INSTRUCTION],
  NO_TOOLS_IN_SUMMARY: [summaries.NO_TOOLS_IN_SUMMARY],
  writtenSummary: [summaries.writtenSummary('é\ntwo')],
  WRITTEN: [summaries.WRITTEN],
  NOT_WRITTEN: [summaries.NOT_WRITTEN],
}

const LISTED = { name: 'review', description: 'Reviews "a" change.' }
const PARAMETERS = {
  count: { type: 'integer', default: 20, description: 'how many' },
  kind: { type: 'choice', choices: ['a', 'b'] },
}

const SKILLS: Rendered<typeof skills> = {
  UNTRUSTED_HEADING: [skills.UNTRUSTED_HEADING],
  skillsIndex: [
    skills.skillsIndex({ skills: [], untrusted: [] }, 1000),
    skills.skillsIndex(
      { skills: [LISTED, { ...LISTED, when_to_use: 'For <diffs>.' }], untrusted: ['a', 'b'] },
      8192,
    ),
    skills.skillsIndex({ skills: [LISTED], untrusted: ['a'] }, 100),
  ],
  skill: say.skill_activation.map(({ data }) => skills.skill(data)),
  argumentsIn: ['$ARGUMENTS $ARGUMENTSX ($ARGUMENTS)'].map((text) =>
    String(skills.argumentsIn(text)),
  ),
  filledBody: [skills.filledBody('Review $ARGUMENTS; not $ARGUMENTS_X.', '$& "a"')],
  skillSources: [
    skills.skillSources('review', [
      { id: 'changes', description: 'what differs' },
      { id: 'history', parameters: PARAMETERS },
    ]),
  ],
  hydration: say.skill_context_hydration.map(({ data }) => skills.hydration(data)),
  hydratedText: ['+ rope', 'a ```` fence\n'].map((text) => skills.hydratedText('diff', text)),
}

const INSTRUCTIONS: Rendered<typeof instructions> = {
  OWN_PATH: [instructions.OWN_PATH],
  namedInstructions: say.late_context.map(({ data }) =>
    instructions.namedInstructions(data.instructions, data.more_instructions).join('\n'),
  ),
  instructionsStart: say.project_instructions.map(({ data }) =>
    instructions.instructionsStart(data),
  ),
  appendedStart: say.project_instructions.map(({ data }) => instructions.appendedStart(data)),
  APPENDED_END: [instructions.APPENDED_END],
  instructionsEnd: say.project_instructions.map(({ data }) => instructions.instructionsEnd(data)),
}

const SMALL = { width: 64, height: 32 }
const FIGURES = { actual: 1001, limit: 1000 }

const RESOURCES: Rendered<typeof resources> = {
  descriptor: say.descriptors.map((one) => resources.descriptor(one, LIMITS.descriptor_bytes)),
  rejected: say.attachment_errors.map(resources.rejected),
  linkFacts: [
    { name: 'a', uri: 'https://example.org/' },
    { name: 'a "b".ts', not_copied: 'not_found' },
  ].flatMap(resources.linkFacts),
  notCopiedReason: ATTACHMENT_CODES.map(resources.notCopiedReason),
  view: say.resource_view.map(({ data }) => resources.view(data)),
  lossReason: LOSSES.map((why) => resources.lossReason({ why, figures: FIGURES })),
  lost: ['@img1', undefined].map((handle) => resources.lost(handle, { why: 'refused' })),
  payloadMissing: ['@img1', undefined].map(resources.payloadMissing),
  fieldMissing: [resources.fieldMissing('output')],
  reducedTo: [resources.reducedTo(SMALL, {})],
  reduced: [resources.reduced('@img1', SMALL, { width: 200, height: 100 })],
  noForm: ['@img1', undefined].map((handle) => resources.noForm(handle, 'audio/wav')),
  titledText: ['@txt1', undefined].map((handle) => resources.titledText(handle, 'text')),
}

const PDF_PAGES: Rendered<typeof pdfPages> = {
  pagesHead: [1, 2].map(pdfPages.pagesHead),
  pageText: [null, '', 'text'].map((text) => pdfPages.pageText(text, 3, 4)),
  pagesTail: [
    {},
    { restOf: 3 },
    { pages: { from: 4, to: 4 } },
    { restOf: 3, pages: { from: 4, to: 9 } },
  ].map((leftOut) => pdfPages.pagesTail(leftOut, 1000)),
}

const NO_FACTS = { files: [], commands: [], decisions: [], open_tasks: [] }
const BRANCHES: Rendered<typeof branches> = {
  branchSummary: [
    branches.branchSummary({ turns: { from: 3, to: 3 }, ...NO_FACTS }),
    branches.branchSummary({
      turns: { from: 3, to: 5 },
      files: ['a b.txt'],
      commands: Array.from({ length: 16 }, (_, at) => `make ${at}`),
      decisions: ['The person allowed bash.'],
      open_tasks: ['two\nlines'],
    }),
  ],
}

const WORDS = {
  branches: BRANCHES,
  checkpoints: CHECKPOINTS,
  instructions: INSTRUCTIONS,
  commands: COMMANDS,
  labels: LABELS,
  mentions: MENTIONS,
  notes: NOTES,
  noteTags: NOTE_TAGS,
  pdfPages: PDF_PAGES,
  resources: RESOURCES,
  results: RESULTS,
  skills: SKILLS,
  summaries: SUMMARIES,
}

/** Role, lifetime, bracket and bytes of every segment of whole Sessions, in the order in which each dialect sends them, and the body. */
async function everyLayout(): Promise<unknown[]> {
  const layouts: unknown[] = []
  for (const dialect of DIALECT_NAMES) {
    for (const seed of [1, 2, 3]) {
      for (const { segments } of await generatedRequests(seed, { dialect })) {
        const parts = segments.map(({ role, lifetime, bracket, bytes }) => {
          return [role, lifetime, bracket.toString('utf8'), sha256(bytes)]
        })
        const body = DIALECTS[dialect].buildBody(segments, { cacheKey: 'hw1:pin', marks: [] })
        layouts.push([dialect, ...parts, sha256(body)])
      }
    }
  }
  return layouts
}

// One pin for all of it: any change requires a new version.
test('[PC-014] [PC-016] [PC-075] Layer 0, every sentence and the layout of a request belong to this version of the contract', async () => {
  expect({
    version: CONTRACT_VERSION,
    layer0: sha256(LAYER_0),
    words: sha256(canonicalJson(WORDS)),
    layout: sha256(canonicalJson(await everyLayout())),
  }).toEqual({
    version: 'hw1',
    layer0: 'a3747b8c76cb065dfdc4b1c1af89a68ff2355fcb29aa5681f0d624f5143e46c0',
    words: WORDS_SHA256,
    layout: '3858c4586b4eace9c785a287cd180e5a7af4ee72065a04feb9468ffe26c825f1',
  })
})

test('every sentence reads as pinned here', () => {
  const sentences = Object.values(WORDS).flatMap((file) =>
    Object.entries(file).map(([name, texts]) => [`## ${name}`, ...texts].join('\n---\n')),
  )
  expect(sentences.join('\n\n')).toMatchSnapshot()
})
