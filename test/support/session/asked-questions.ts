import type { Clock } from '../../../src/host/clock.ts'
import { SessionId, TurnId } from '../../../src/model/ids.ts'
import {
  SessionQuestions,
  type QuestionUpdate,
} from '../../../src/session/questions/session-questions.ts'

/** The questions of a Session without a Log. */
export interface AskedQuestions {
  readonly questions: SessionQuestions
  /** Everything that watchers of the Session received. */
  readonly published: readonly QuestionUpdate[]
}

/** The requests are `req_1`, `req_2` and so on, or have another prefix. */
export function askedQuestions(
  clock: Pick<Clock, 'after'>,
  waitMs: number,
  prefix = 'req',
): AskedQuestions {
  const published: QuestionUpdate[] = []
  let asked = 0
  const questions = new SessionQuestions({
    clock,
    ids: {
      request: () => {
        asked += 1
        return `${prefix}_${asked}`
      },
    },
    waitMs,
    publish: (notice) => void published.push(notice),
    session: SESSION,
    redact: (text) => text.replaceAll(SECRET, '[redacted key]'),
  })
  return { questions, published }
}

/** A key that this process uses. */
export const SECRET = 'sk-secret-1234'

export const SESSION = SessionId.parse(`ses_${'0'.repeat(26)}`)
export const TURN = TurnId.parse(`trn_${'0'.repeat(26)}`)

type PermissionQuestion = Parameters<SessionQuestions['ask']>[1]

/** The permission of a call that runs `npm test`, with nothing that a yes may cover beyond it. */
export function permissionQuestion(changes: Partial<PermissionQuestion> = {}): PermissionQuestion {
  return {
    about: { call_id: 'c1', subject: 'bash', args_sha256: 'a'.repeat(64), mode: 'ask' },
    claim: { tool: 'bash', effect: 'run', paths: [], command: 'npm test', network: false },
    arguments: '{"command":"npm test"}',
    reason: 'it runs a program',
    offers: [],
    ...changes,
  }
}
