import type { Brain } from '../../src/providers/rehearsal/rehearsal-brain.ts'
import type { RehearsalRequest } from '../../src/providers/rehearsal/schema.ts'

const INSTANCE = 'helper'
const LONGEST_WAIT_MS = 30_000
const MOST_READS = 10
/** A tool of Claude Code for the case that servers are still starting. */
const WAIT = 'WaitForMcpServers'

interface Step {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

interface Done {
  readonly name: string
  readonly output: string
}

/**
 * The model of a host that delegates a task to a new Instance, in the steps of docs/mcp.md, and repeats the answer. It first
 * reads for as long as possible while there is nothing to read, so that a host with a shorter time limit is noticed.
 */
export function delegatingBrain(task: string, workspace: string): Brain {
  return async (request) => {
    const tools = request.segments.flatMap((one) => (one.role === 'tool' ? [one.name] : []))
    const done = doneIn(request)
    const step = nextStep(done, task, workspace)
    if (typeof step === 'string') return { text: step, calls: [] }
    // Hosts put the name of the server before that of the tool.
    const name = tools.find((tool) => tool.endsWith(step.name))
    if (name !== undefined) return { text: '', calls: [{ ...step, name }] }
    if (tools.includes(WAIT) && done.length < MOST_READS)
      return { text: '', calls: [{ name: WAIT, arguments: {} }] }
    return { text: `No tool ${step.name} among ${tools.join()}.`, calls: [] }
  }
}

/** The calls that have ended, in order. */
function doneIn({ segments }: RehearsalRequest): readonly Done[] {
  const names = new Map(
    segments.flatMap((one) => (one.role === 'tool_call' ? [[one.call_id, one.name] as const] : [])),
  )
  return segments.flatMap((one) =>
    one.role === 'tool_result'
      ? [{ name: names.get(one.call_id) ?? one.name, output: one.output }]
      : [],
  )
}

function nextStep(done: readonly Done[], task: string, workspace: string): Step | string {
  const of = (tool: string) => done.filter(({ name }) => name.endsWith(tool))
  const reads = of('tether_read')
  const [sent] = of('tether_send')
  const read = { instance: INSTANCE, wait_ms: LONGEST_WAIT_MS }
  if (of('instance_create').length === 0)
    return { name: 'instance_create', arguments: { handle: INSTANCE, workspace } }
  if (reads.length === 0) return { name: 'tether_read', arguments: read }
  if (sent === undefined)
    return { name: 'tether_send', arguments: { instance: INSTANCE, text: task } }
  const last = reads.at(-1)?.output ?? ''
  if (reads.length > 1 && /assistant\.done|"error"/.test(last)) return `The agent says: ${last}`
  if (reads.length > MOST_READS) return `The agent does not answer: ${last}`
  return { name: 'tether_read', arguments: { ...read, ...cursorIn(sent.output) } }
}

/** Hosts show a result to their model as JSON, or as JSON in JSON. */
function cursorIn(output: string): object {
  const [, reply_to_msg_id] = /msg_id\\*":\s*\\*"([^"\\]+)/.exec(output) ?? []
  const [, after_seq] = /ingress_seq\\*":\s*(\d+)/.exec(output) ?? []
  return { reply_to_msg_id, after_seq: Number(after_seq) }
}
