import type { Settings } from '../model/settings.ts'

/** The user's settings for bytes sent to a model. */
export type UploadRules = NonNullable<Settings['resources']>

/** The facts of a Resource that the decision needs. */
export interface Upload {
  readonly kind: 'image' | 'pdf' | 'text'
  readonly size_bytes: number
}

export interface UploadDecision {
  readonly answer: 'allow' | 'ask' | 'deny'
  /** For the person who is asked, and for the model that is refused. */
  readonly reason: string
}

/**
 * May these bytes cross the Leakage Boundary? Pure. A rule for the kind overrides the general rule; size limits only
 * restrict.
 */
export function decideUpload(upload: Upload, rules: UploadRules): UploadDecision {
  const { upload_deny_over: most = Infinity, upload_ask_over: askOver = Infinity } = rules
  const answer = rules[`upload_${upload.kind}`] ?? rules.upload ?? 'allow'
  if (answer === 'deny') return { answer, reason: `${KINDS[upload.kind]} are not sent to models` }
  if (upload.size_bytes > most) {
    return { answer: 'deny', reason: `files of more than ${most} bytes are not sent to models` }
  }
  if (answer === 'ask')
    return { answer, reason: `${KINDS[upload.kind]} are sent only with permission` }
  if (upload.size_bytes > askOver) {
    return {
      answer: 'ask',
      reason: `files of more than ${askOver} bytes are sent only with permission`,
    }
  }
  return { answer: 'allow', reason: 'it is allowed' }
}

const KINDS = { image: 'images', pdf: 'PDF documents', text: 'text files' } as const
