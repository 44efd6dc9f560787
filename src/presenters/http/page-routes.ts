import type { Context } from 'hono'
import type { AppFile } from '../../host/server/app-files.ts'
import { failed, ok } from '../../model/errors.ts'
import { answerFailure, type RequestVariables } from './exchange/answer.ts'
import { route } from './exchange/route.ts'
import { PAGE_HTML } from './page-html.ts'
import { PageCode } from './protocol.ts'
import type { ServerParts } from './server-parts.ts'

/**
 * The app for browsers. Its files need no token: they are the same for everyone and show nothing without one, which the page gets
 * for a code that `hawser up --open` passed in the fragment.
 */
export const PAGE_ROUTES = [
  appPage('GET /'),
  appPage('GET /s/:id'),
  route('GET /icon.svg', {
    open: true,
    handle: async ({ app }: ServerParts, { context }) =>
      fileResponse(context, await app.file('icon.svg'), NOT_KEPT),
  }),
  route('GET /assets/:name', {
    open: true,
    handle: async ({ app }: ServerParts, { context }) =>
      fileResponse(context, await app.file(`assets/${context.req.param('name')}`), FOREVER),
  }),
  route('POST /page/token', {
    summary: 'Exchanges the code of `hawser up --open` for the token, once. Needs no token.',
    body: PageCode,
    answer: 'PageToken',
    open: true,
    handle: ({ codes, token }: ServerParts, { body: { code } }) =>
      codes.redeem(code) ? ok({ token }) : UNUSABLE,
  }),
]

const UNUSABLE = failed(
  'permission_denied',
  'This link was used already, has expired, or belongs to another start of the server.',
  {},
  [{ action: 'Open the page again.', command: 'hawser up --open' }],
)

/** Every Session has an address of its own; the page reads it. */
function appPage(at: 'GET /' | 'GET /s/:id') {
  return route(at, {
    open: true,
    handle: async ({ app }: ServerParts, { context }) => {
      const page = await app.file('index.html')
      return context.body(page?.bytes ?? PAGE_HTML, 200, {
        'content-type': 'text/html; charset=UTF-8',
        'content-security-policy': POLICY,
        'cross-origin-opener-policy': 'same-origin',
      })
    },
  })
}

/**
 * Only what this server serves may run or load, besides pictures that the page itself fetched with its token, and no string can
 * become HTML or a script.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** The name of an asset contains a hash of its content. */
const FOREVER = 'public, max-age=31536000, immutable'
const NOT_KEPT = 'no-store'

function fileResponse(
  context: Context<RequestVariables>,
  file: AppFile | undefined,
  kept: string,
): Response {
  if (file === undefined) return answerFailure(context, NO_FILE)
  return context.body(file.bytes, 200, { 'content-type': file.type, 'cache-control': kept })
}

const { error: NO_FILE } = failed('not_found', 'The app has no such file.')
