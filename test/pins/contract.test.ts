import { expect, test } from 'vitest'
import { CONTRACT_VERSION, LAYER_0 } from '../../src/contract/layer0.ts'
import { sha256 } from '../../src/encoding/hash.ts'
import { canonicalJson } from '../../src/encoding/json.ts'
import { Handle } from '../../src/model/descriptor.ts'
import { LOSSES } from '../../src/history/transients.ts'
import * as words from '../../src/history/words.ts'
import * as said from '../../src/providers/stand-in-text.ts'
import { DIALECT_NAMES } from '../support/dialects.ts'
import { madeRequests } from '../support/made-requests.ts'
import { sampleEvents } from '../support/sample-events.ts'

/** Every sentence that Hawser says to a model, on Events that reach every branch of it. */
function everySentence(): string[] {
  const say = sampleEvents()
  return [
    words.NO_RESULT,
    ...say.late_context.map(words.lateContext),
    words.piped('one\ntwo\n'),
    words.piped('no newline'),
    ...say.attachment_errors.map(words.rejected),
    ...say.descriptors.map(words.descriptor),
    words.presenterContext({ b: 'two\nlines', a: 'one' }),
    ...say.resource_view.map(words.view),
    ...say.descriptors.map(words.withheld),
    ...LOSSES.map((loss) => words.lost({ handle: Handle.parse('@img1') }, loss)),
    ...say.skill_activation.map(words.skill),
    ...say.skill_context_hydration.map(words.hydration),
    ...say.history_compaction.map(words.checkpoint),
    ...say.files_restored.map(words.filesRestored),
    ...say.turn_ended.map((event) => words.turnEnded(event) ?? ''),
  ]
}

/** Sentences that stand in requests for what a dialect or a model does not take. */
function everySubstitute(): string[] {
  const image = { handle: '@img1', media_type: 'image/tiff' }
  return [
    ...(['ok', 'failed', 'denied', 'unknown'] as const).flatMap((outcome) => [
      said.resultText({ outcome, output: '' }),
      said.resultText({ outcome, output: 'text' }),
    ]),
    said.notShown(image),
    said.notShown({ media_type: 'audio/wav' }),
    said.titledText(image, 'text'),
    said.titledText({}, 'text'),
    said.fenced('text'),
    said.BEFORE_NOT_SHOWN,
  ]
}

/** Role, lifetime and bytes of every segment of whole Sessions, in the order in which each dialect sends them. */
async function everyLayout(): Promise<unknown[]> {
  const layouts: unknown[] = []
  for (const dialect of DIALECT_NAMES) {
    for (const seed of [1, 2, 3]) {
      for (const { segments } of await madeRequests(seed, { dialect })) {
        const parts = segments.map(({ role, lifetime, bytes }) => [role, lifetime, sha256(bytes)])
        layouts.push([dialect, ...parts])
      }
    }
  }
  return layouts
}

// One pin for all of it: whatever changes, changes with the version, and with everything else that changes.
test('[PC-014] [PC-016] [PC-075] Layer 0, every sentence and the layout of a request belong to this version of the contract', async () => {
  expect({
    version: CONTRACT_VERSION,
    layer0: sha256(LAYER_0),
    sentences: sha256(canonicalJson(everySentence())),
    substitutes: sha256(canonicalJson(everySubstitute())),
    layout: sha256(canonicalJson(await everyLayout())),
  }).toEqual({
    version: 'hw1',
    layer0: 'bfd14903c0bcc4dff9e892c9410a1d8ffe650dfcd1059341e27826aa4ddc5d89',
    sentences: 'fd1bf63687afcbe802d5881e62b94c1adc13f56efcf00ee65b18a75afd416580',
    substitutes: 'a85dff6eed1a466f0b9ca5d1b6715b70ab4310b752bb43a1512f56a730ab6173',
    layout: 'd2300bdcfd7a0fa5018a02b946d71f4cc4de7238e7b13ef0d686139fa469eae6',
  })
})

test('what stands in a request for what is not taken belongs to this version of the contract', () => {
  expect(everySubstitute().join('\n---\n')).toMatchSnapshot()
})

test('every sentence is as it reads here', () => {
  expect(everySentence().join('\n---\n')).toMatchSnapshot()
})
