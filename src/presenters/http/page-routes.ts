import { Hono, type Handler } from 'hono'
import { failed, ok } from '../../model/errors.ts'
import { answerFailure, answerResult, type RequestVariables } from './exchange/answer.ts'
import { PAGE_HTML } from './page/page-html.ts'
import { PAGE_SCRIPT } from './page/page-script.ts'
import { PAGE_STYLE } from './page/page-style.ts'
import { PageCode } from './protocol.ts'
import { jsonBody } from './exchange/request-body.ts'
import type { ServerParts } from './server-parts.ts'

/** The page for browsers. It needs no token, and gets one for a code that `hawser up --open` passed in the fragment. */
export function pageRoutes({ codes, token }: ServerParts): Hono<RequestVariables> {
  const routes = new Hono<RequestVariables>()
  routes.get('/', landingPage)
  routes.get('/style.css', text('text/css', PAGE_STYLE))
  routes.get('/page.js', text('text/javascript', PAGE_SCRIPT))
  routes.post('/page/token', async (context) => {
    const body = await jsonBody(context.req.raw, PageCode)
    if (!body.ok) return answerFailure(context, body.error)
    if (!codes.redeem(body.value.code)) return answerFailure(context, UNUSABLE)
    return answerResult(context, ok({ token }))
  })
  return routes
}

const { error: UNUSABLE } = failed(
  'permission_denied',
  'This link was used already, has expired, or belongs to another start of the server.',
  {},
  [{ action: 'Open the page again.', command: 'hawser up --open' }],
)

/** Only what this server serves may run or load, and no string can become HTML or a script. */
const landingPage: Handler = (context) =>
  context.html(PAGE_HTML, 200, {
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

function text(type: string, content: string): Handler {
  return (context) => context.body(content, 200, { 'content-type': `${type}; charset=utf-8` })
}
