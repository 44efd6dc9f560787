import { ok } from '../../model/errors.ts'
import { ATTACHMENT_EXTENSIONS, LIMITS } from '../../model/limits.ts'
import { route } from './exchange/route.ts'
import type { ServerParts } from './server-parts.ts'

/** Whether this server answers, what it accepts, and which models it knows. */
export const CATALOGUE_ROUTES = [
  route('GET /healthz', {
    summary: 'Whether the server answers. Needs no token.',
    answer: 'Health',
    open: true,
    handle: () => ok({}),
  }),
  route('GET /api/harness/limits', {
    summary: 'The limits, and the file types that can be attached.',
    answer: 'Limits',
    handle: () => ok({ limits: LIMITS, attachmentTypes: Object.keys(ATTACHMENT_EXTENSIONS) }),
  }),
  route('GET /api/harness/models', {
    summary: 'The known models.',
    answer: 'Models',
    handle: ({ models }: ServerParts) => models(),
  }),
]
