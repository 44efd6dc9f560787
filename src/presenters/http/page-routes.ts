import type { Context } from 'hono'
import { failed, ok } from '../../model/errors.ts'
import { route } from './exchange/route.ts'
import { PAGE_HTML } from './page/page-html.ts'
import { PAGE_SCRIPT } from './page/page-script.ts'
import { PAGE_STYLE } from './page/page-style.ts'
import { PageCode } from './protocol.ts'
import type { ServerParts } from './server-parts.ts'

/** The page for browsers. It needs no token, and gets one for a code that `hawser up --open` passed in the fragment. */
export const PAGE_ROUTES = [
  route('GET /', { open: true, handle: (_: ServerParts, { context }) => landingPage(context) }),
  asset('GET /style.css', 'text/css', PAGE_STYLE),
  asset('GET /page.js', 'text/javascript', PAGE_SCRIPT),
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

/** Only what this server serves may run or load, and no string can become HTML or a script. */
function landingPage(context: Context): Response | Promise<Response> {
  return context.html(PAGE_HTML, 200, {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; '),
    'cross-origin-opener-policy': 'same-origin',
  })
}

function asset(at: `GET ${string}`, type: string, content: string) {
  const headers = { 'content-type': `${type}; charset=utf-8` }
  return route(at, {
    open: true,
    handle: (_: ServerParts, { context }) => context.body(content, 200, headers),
  })
}
