import { sseOf, type VendorAnswer, type VendorCall } from '../../support/providers/vendor-answer.ts'
import type { VendorDialect } from '../../support/providers/vendor-schemas.ts'

/** What an answer contains after a given number of its bytes. */
export interface AnswerContent {
  readonly text: string
  readonly reasoning: string
  /** The number of complete calls. */
  readonly calls: number
  /** The model reported that it is done. */
  readonly done: boolean
}

/** An answer as bytes, and the content of each of its prefixes; computed without any code under test. */
export interface CutAnswer {
  readonly dialect: VendorDialect
  readonly bytes: Buffer
  readonly text: string
  readonly calls: readonly VendorCall[]
  /** After this many bytes there is content to show. */
  readonly firstShown: number
  /** The byte counts after which there is more content. */
  readonly steps: readonly number[]
  after(bytes: number): AnswerContent
}

/** Its first call leaves a file behind, wherever and however it runs. */
export const WRITTEN = { path: 'made.txt', content: 'Tau ⚓ und 船' }

/** Characters of one to four bytes, so that cuts fall into each of them. */
export const ANSWER: VendorAnswer & Required<Pick<VendorAnswer, 'text' | 'calls'>> = {
  reasoning: 'Erst das Tau 🪢, dann — né?',
  text: 'Ahoï! ⚓ Das 船 liegt fest 🚢.',
  calls: [
    { id: 'call_write', name: 'write', arguments: JSON.stringify(WRITTEN) },
    { id: 'call_read', name: 'read', arguments: '{"path":"notes.txt"}' },
  ],
}

export function cutAnswer(dialect: VendorDialect): CutAnswer {
  const bytes = dialect === 'chat' ? withReasoning(sseOf('chat', ANSWER)) : sseOf(dialect, ANSWER)
  const steps = stepsOf(bytes, STEPS[dialect])
  const first = steps.find(({ content }) => content.text !== '' || content.reasoning !== '')
  const changes = steps.filter(
    ({ content }, i) => JSON.stringify(content) !== JSON.stringify(steps[i - 1]?.content),
  )
  return {
    dialect,
    bytes,
    text: ANSWER.text,
    calls: ANSWER.calls,
    firstShown: first?.end ?? Infinity,
    steps: changes.map(({ end }) => end),
    after: (count) => steps.findLast(({ end }) => end <= count)?.content ?? NOTHING,
  }
}

const NOTHING: AnswerContent = { text: '', reasoning: '', calls: 0, done: false }

/** Chat Completions has no reasoning in its answers; compatible servers have. */
function withReasoning(bytes: Buffer): Buffer {
  const after = bytes.indexOf('\n\n') + 2
  const thoughts = ['Erst das Tau 🪢, ', 'dann — né?'].map((reasoning_content) => {
    const choices = [{ index: 0, delta: { reasoning_content }, finish_reason: null }]
    return `data: ${JSON.stringify({ id: 'chatcmpl_1', choices })}\n\n`
  })
  return Buffer.concat([
    bytes.subarray(0, after),
    Buffer.from(thoughts.join('')),
    bytes.subarray(after),
  ])
}

/** What one event adds to the content. */
type Step = (event: unknown, before: AnswerContent) => AnswerContent

/** An event is complete with the last byte of its blank line. */
function stepsOf(bytes: Buffer, step: Step) {
  const steps: { readonly end: number; readonly content: AnswerContent }[] = []
  let content = NOTHING
  let from = 0
  for (let end = bytes.indexOf('\n\n'); end !== -1; end = bytes.indexOf('\n\n', from)) {
    const data = /^data: (.*)$/m.exec(bytes.toString('utf8', from, end))?.[1] ?? ''
    if (data !== '[DONE]') content = step(JSON.parse(data), content)
    from = end + 2
    steps.push({ end: from, content })
  }
  return steps
}

const STEPS: Readonly<Record<VendorDialect, Step>> = {
  messages: (event, before) => {
    switch (at(event, 'type')) {
      case 'content_block_delta':
        return {
          ...before,
          text: before.text + text(event, 'delta', 'text'),
          reasoning: before.reasoning + text(event, 'delta', 'thinking'),
        }
      case 'content_block_stop':
        // Reasoning is block 0, text is block 1.
        return { ...before, calls: Math.max(0, Number(at(event, 'index')) - 1) }
      case 'message_stop':
        return { ...before, done: true }
      default:
        return before
    }
  },
  responses: (event, before) => {
    switch (at(event, 'type')) {
      case 'response.output_text.delta':
        return { ...before, text: before.text + text(event, 'delta') }
      case 'response.reasoning_summary_text.delta':
        return { ...before, reasoning: before.reasoning + text(event, 'delta') }
      case 'response.output_item.done':
        return { ...before, calls: Math.max(0, Number(at(event, 'output_index')) - 1) }
      case 'response.completed':
        return { ...before, done: true }
      default:
        return before
    }
  },
  chat: (event, before) => ({
    text: before.text + text(event, 'choices', 0, 'delta', 'content'),
    reasoning: before.reasoning + text(event, 'choices', 0, 'delta', 'reasoning_content'),
    calls: text(event, 'choices', 0, 'finish_reason') === '' ? before.calls : ANSWER.calls.length,
    done: before.done || typeof at(event, 'usage', 'prompt_tokens') === 'number',
  }),
}

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined,
    value,
  )
}

function text(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : ''
}
