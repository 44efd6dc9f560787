import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { Harness } from '../harness.ts'
import { PROBE_PROMPTS } from './script.ts'
import {
  EVIDENCE_EVENTS,
  RunEvidence,
  type ExpectedRun,
  type SessionEvidence,
} from './run-evidence.ts'
import type { Session } from '../session.ts'
import type { ModelChoice } from '../surface/surface-parts.ts'

/**
 * One Session of a comparison: sends every prompt in sequence and reads the results from the Log. It may only read
 * files and asks a person nothing.
 */
export async function runProbe(
  harness: Harness,
  choice: ModelChoice,
  expected: ExpectedRun['files'],
  signal: AbortSignal,
): Promise<Result<SessionEvidence>> {
  const session = await harness.create({ ...choice, permissionMode: 'read-only' })
  if (!session.ok) return session
  const stop = () => session.value.interrupt()
  signal.addEventListener('abort', stop)
  try {
    const sent = await askAll(session.value, signal)
    if (!sent.ok) return sent
    const found = new RunEvidence({ workspace: harness.workspace, files: expected })
    const read = await harness.read(session.value.id, { types: EVIDENCE_EVENTS }, ({ event }) => {
      if (event !== undefined) found.take(event)
    })
    return read.ok ? ok(found.evidence) : read
  } finally {
    signal.removeEventListener('abort', stop)
    await session.value.close()
  }
}

async function askAll(session: Session, signal: AbortSignal): Promise<Result<void>> {
  for (const prompt of PROBE_PROMPTS) {
    if (signal.aborted) return interruptedProbe()
    const admitted = await session.admit(prompt)
    if (!admitted.ok) return admitted
    const outcome = await admitted.value.done
    if (!outcome.ok) return outcome
    const { status, error } = outcome.value
    if (status === 'interrupted') return interruptedProbe()
    if (status !== 'completed') {
      const { kind = 'internal', message = 'A Turn failed.', details = {} } = error ?? {}
      return failed(kind, message, details)
    }
  }
  return ok(undefined)
}

function interruptedProbe(): Failed {
  return failed('interrupted', 'The comparison was interrupted.')
}
