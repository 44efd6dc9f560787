import type { AnswerRefusal, ToolResources } from '../../tools/tool.ts'

/** What the answers of a Session may contain: images only, and this many. */
export interface AnswerLimits {
  readonly images: number
}

/** The places in the answer of one Turn. */
export function answerPlaces(limits: AnswerLimits | undefined): ToolResources['attachable'] {
  if (limits === undefined) return () => undefined
  let images = 0
  return ({ kind }) => {
    if (limits.images === 0) return NO_IMAGES
    if (kind !== 'image') return ONLY_IMAGES
    if (images === limits.images) return noPlace(limits.images)
    images += 1
    return undefined
  }
}

const NO_IMAGES: AnswerRefusal = {
  code: 'unsupported_type',
  reason: 'answers in this conversation cannot contain files; describe it in your answer instead',
}

const ONLY_IMAGES: AnswerRefusal = {
  code: 'unsupported_type',
  reason:
    'answers in this conversation can contain images only; put its content into your answer, or name its path in the workspace',
}

function noPlace(limit: number): AnswerRefusal {
  const reason = `your answer already has ${limit} images, which is the most it can contain`
  return { code: 'budget_exceeded', reason, limit, actual: limit + 1 }
}
