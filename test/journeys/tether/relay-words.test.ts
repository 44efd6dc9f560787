import { expect, test } from 'vitest'
import { refusal } from '../../../src/tether/relay/refusal.ts'
import { vendorError } from '../../../src/providers/vendor-error.ts'
import { fromProvider } from '../../../src/turn/provider-error.ts'

test('an error of a provider names it, its status and the id of the request', () => {
  const error = vendorError({ status: 402, code: 'billing_error', message: 'No.', requestId: 'r1' })
  expect(fromProvider(error, 'anthropic').message).toBe('No. (anthropic, status 402, request r1)')
})

test.each([
  ['denied', 'not_configured'],
  ['too_large', 'too_large'],
  ['slow', 'overloaded'],
  ['busy', 'rate_limited'],
  ['ceiling', 'usage_limit'],
  ['unreachable', 'network'],
  ['bad_answer', 'invalid_response'],
] as const)(
  'what the relay itself says (%s) is not put in the mouth of a provider',
  (why, kind) => {
    const { status, code, message } = refusal(why, 'The relay says why.')
    const error = fromProvider(vendorError({ status, type: code, code, message }), 'anthropic')
    expect(error).toMatchObject({ kind, message: 'The relay says why.' })
    expect(JSON.stringify(error.next_actions ?? [])).not.toContain('account')
  },
)
