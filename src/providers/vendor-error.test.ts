import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CAUSE } from '../model/error-cause.ts'
import { causeOf, ERROR_KINDS, type ErrorKind } from '../model/errors.ts'
import { vendorError } from './vendor-error.ts'
import type { VendorFailure } from './vendor-failure.ts'

type Row = readonly [ErrorKind, Partial<VendorFailure>]

function expectKinds(rows: readonly Row[]): void {
  const kinds = rows.map(([, failure]) => [vendorError({ message: '', ...failure }).kind, failure])
  expect(kinds).toEqual(rows)
}

const bad = { status: 400, type: 'invalid_request_error' }

describe('the kind of a vendor error', () => {
  test('a refused key is `auth`', () => {
    expectKinds([
      ['auth', { status: 401, type: 'authentication_error', message: 'invalid x-api-key' }],
      ['auth', { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' }],
      ['auth', { status: 401 }],
      ['auth', { status: 403, type: 'permission_error' }],
      ['auth', { status: 403, message: 'Country, region, or territory not supported' }],
      ['auth', { ...bad, code: 'organization_on_hold' }],
      ['auth', { type: 'authentication_error' }],
    ])
  })

  test('an account without credit is `usage_limit`, whatever the status', () => {
    const low = 'Your credit balance is too low to access the Anthropic API.'
    expectKinds([
      ['usage_limit', { status: 402 }],
      ['usage_limit', { status: 402, type: 'billing_error' }],
      ['usage_limit', { status: 403, type: 'billing_error' }],
      ['usage_limit', { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' }],
      ['usage_limit', { status: 429, type: 'usage_limit_reached' }],
      ['usage_limit', { ...bad, message: low }],
      ['usage_limit', { ...bad, message: 'You have reached your specified API usage limits.' }],
      ['usage_limit', { ...bad, code: 'billing_hard_limit_reached' }],
      [
        'usage_limit',
        { status: 429, type: 'rate_limit_error', code: 'enforced_spend_limit_reached' },
      ],
      [
        'usage_limit',
        { status: 429, type: 'rate_limit_error', message: 'Above your monthly spend limit' },
      ],
      ['usage_limit', { code: 'insufficient_quota' }],
      ['usage_limit', { status: 403, message: 'Insufficient credits. Add more.' }],
    ])
  })

  test('too many requests, or too many tokens per minute, are `rate_limited`', () => {
    const tokens = 'This request would exceed your rate limit: too many tokens per minute.'
    expectKinds([
      ['rate_limited', { status: 429 }],
      ['rate_limited', { status: 429, type: 'rate_limit_error', message: tokens }],
      ['rate_limited', { status: 429, type: 'tokens', code: 'rate_limit_exceeded' }],
      ['rate_limited', { status: 429, message: tokens }],
      ['rate_limited', { code: 'rate_limit_exceeded' }],
      ['rate_limited', { type: 'rate_limit_error', message: 'too many tokens' }],
      ['rate_limited', { status: 429, code: 'ramp_limit_exceeded' }],
    ])
  })

  test('a failure of the server is `overloaded`', () => {
    expectKinds([
      ['overloaded', { status: 529, type: 'overloaded_error' }],
      ['overloaded', { type: 'overloaded_error', message: 'Overloaded' }],
      ['overloaded', { status: 503 }],
      ['overloaded', { status: 503, code: 'slow_down' }],
      ['overloaded', { code: 'server_is_overloaded' }],
      ['overloaded', { status: 500, type: 'api_error' }],
      ['overloaded', { status: 500, type: 'server_error' }],
      ['overloaded', { code: 'server_error' }],
      ['overloaded', { type: 'api_error' }],
      ['overloaded', { status: 502 }],
      ['overloaded', { status: 504, type: 'timeout_error' }],
      ['overloaded', { status: 520 }],
      ['overloaded', { status: 408 }],
      ['overloaded', { status: 409 }],
    ])
  })

  test('a request that does not fit the window is `context_overflow`', () => {
    const messages = [
      'prompt is too long: 210000 tokens > 200000 maximum',
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000.",
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).',
      'the request exceeds the available context size, try increasing it',
      'Too many tokens in the prompt.',
      'Please reduce the length of the messages or completion.',
    ]
    expectKinds([
      ['context_overflow', { ...bad, code: 'context_length_exceeded' }],
      ['context_overflow', { code: 'context_length_exceeded', message: 'Too long.' }],
      ['context_overflow', { status: 400, type: 'exceed_context_size_error' }],
      ...messages.map((message): Row => ['context_overflow', { ...bad, message }]),
      ...messages.map((message): Row => ['context_overflow', { status: 413, message }]),
      ...messages.map((message): Row => ['context_overflow', { status: 422, message }]),
      ...messages.map((message): Row => ['context_overflow', { status: 500, message }]),
      ...messages.map((message): Row => [
        'context_overflow',
        { type: 'invalid_request_error', message },
      ]),
    ])
  })

  test('a body that is too large is `too_large`', () => {
    expectKinds([
      ['too_large', { status: 413, type: 'request_too_large', message: 'Request exceeds 32 MB' }],
      ['too_large', { status: 413 }],
      ['too_large', { ...bad, code: 'string_above_max_length' }],
    ])
  })

  test('a missing model is `model_not_found`, and a missing path is not', () => {
    expectKinds([
      ['model_not_found', { status: 404, type: 'not_found_error', message: 'model: x' }],
      ['model_not_found', { status: 404, message: 'The model `x` does not exist.' }],
      ['model_not_found', { status: 404, message: 'model "x" not found, try pulling it first' }],
      ['not_found', { status: 404, type: 'not_found_error', message: 'Not Found' }],
      ['model_not_found', { status: 404, code: 'model_not_found' }],
      ['model_not_found', { ...bad, code: 'model_not_found' }],
      ['not_found', { status: 404 }],
    ])
  })

  test('a request that the vendor declines to answer is `refused`', () => {
    expectKinds([
      ['refused', { ...bad, code: 'content_policy_violation' }],
      ['refused', { ...bad, code: 'content_filter' }],
      ['refused', { ...bad, code: 'ResponsibleAIPolicyViolation' }],
      ['refused', { ...bad, message: 'Output blocked by content filtering policy' }],
      ['refused', { code: 'invalid_prompt', message: 'This was flagged as a breach.' }],
      ['refused', { type: 'refusal' }],
    ])
  })

  test('any other rejected request is `invalid_args`', () => {
    expectKinds([
      ['invalid_args', { ...bad, message: 'max_tokens: Field required' }],
      ['invalid_args', { status: 422 }],
      ['invalid_args', { status: 405 }],
      ['invalid_args', { status: 418 }],
      ['invalid_args', { type: 'invalid_request_error' }],
      ['invalid_args', { code: 'invalid_prompt' }],
    ])
  })

  test('an unknown error without a status is `invalid_response`', () => {
    expectKinds([
      ['invalid_response', {}],
      ['invalid_response', { status: 200, type: 'strange' }],
      ['network', { status: 307 }],
    ])
  })

  test('any failure becomes one error of a known kind with a sentence', () => {
    const text = fc.option(fc.string({ unit: 'binary' }), { nil: undefined })
    const status = fc.option(fc.integer({ min: 100, max: 999 }), { nil: undefined })
    const message = fc.string({ unit: 'binary', maxLength: 700 })
    const failures = fc.record({ status, type: text, code: text, param: text, message })
    fc.assert(
      fc.property(failures, (one) => {
        const error = vendorError(one)
        expect(ERROR_KINDS).toContain(error.kind)
        expect(error.message).toMatch(/^[^\p{Cc}\u202A-\u202E]{1,500}$/u)
        expect(error.message.isWellFormed()).toBe(true)
      }),
      { numRuns: 50 },
    )
  })
})

describe('the content of a vendor error', () => {
  test('has the facts of the vendor in its details, and those that code branches on in its cause', () => {
    const failure = {
      status: 429,
      type: 'rate_limit_error',
      code: 'c',
      param: 'p',
      message: 'Slower, please.',
      retryAfterMs: 1_500,
      requestId: 'req_1',
    }
    expect(vendorError(failure)).toEqual({
      kind: 'rate_limited',
      message: 'Slower, please.',
      details: {
        status: 429,
        type: 'rate_limit_error',
        code: 'c',
        param: 'p',
        request_id: 'req_1',
        retry_after_ms: 1_500,
      },
      next_actions: [],
      [CAUSE]: {
        type: 'provider',
        status: 429,
        code: 'c',
        requestId: 'req_1',
        retryAfterMs: 1_500,
      },
    })
    expect(vendorError({ message: 'No.', code: '', retryAfterMs: 0 }).details).toEqual({
      retry_after_ms: 0,
    })
  })

  test("has the vendor's sentence, shortened to one line", () => {
    const message = '\u001B[31m Bad\r\n\tthing \u202Ehappened\u0000.\u2028 '
    expect(vendorError({ message: message }).message).toBe('[31m Bad thing happened .')
    const long = vendorError({ message: '🚢'.repeat(300), type: 'x'.repeat(300) })
    expect(long.message).toMatch(/^(?:🚢)+…$/u)
    expect(Buffer.byteLength(long.message)).toBeLessThanOrEqual(500)
    expect(Buffer.byteLength(String(long.details['type']))).toBeLessThanOrEqual(200)
  })

  test('states that the vendor gave no reason if there is none', () => {
    expect(vendorError({ status: 502, message: ' \n' }).message).toContain('502')
    expect(vendorError({ message: '' }).message).not.toBe('')
  })

  test('has next actions for a refused key, an account without credit and a missing model', () => {
    const commands = (failure: Partial<VendorFailure>) =>
      vendorError({ message: '', ...failure }).next_actions.map(({ command }) => command)
    expect(commands({ status: 401 })).toEqual([undefined, 'hawser config set providers.NAME.key -'])
    expect(commands({ status: 402 })).toEqual([undefined])
    expect(commands({ status: 404 })).toEqual(['hawser doctor', 'hawser models'])
    expect(commands({ code: 'model_not_found' })).toEqual(['hawser models'])
    expect(commands({ status: 400 })).toEqual([])
    const [first] = vendorError({ status: 401, message: '' }).next_actions
    expect(first?.action).toContain('ANTHROPIC_API_KEY or OPENAI_API_KEY')
  })
})

describe('an image or document that a vendor refuses', () => {
  function media(failure: Partial<VendorFailure>) {
    const error = vendorError({ ...bad, message: '', ...failure })
    const { refused_media, refused_at } = error.details
    const cause = causeOf(error)
    const refused = cause?.type === 'provider' ? cause.refusedMedia : undefined
    expect([refused !== undefined, refused?.at]).toEqual([refused_media === true, refused_at])
    return [refused_media, refused_at]
  }

  test.each([
    ['messages.3.content.1.image.source.base64: invalid base64 data', 'messages.3.content.1'],
    [
      'messages.0.content.2.image.source.base64.data: image exceeds 5 MB maximum: 6 > 5 bytes',
      'messages.0.content.2',
    ],
    [
      'messages.7.content.0.tool_result.content.1.image.source: Could not process image',
      'messages.7.content.0.tool_result.content.1',
    ],
    [
      'messages.12.content.0.document.source.base64.data: The PDF was not valid.',
      'messages.12.content.0',
    ],
    ["Invalid value at 'input[4].output[2].image_url': unsupported image", 'input[4].output[2]'],
    ['messages.[2].content.[1].image_url: Invalid image data', 'messages.[2].content.[1]'],
    ['Could not process image', undefined],
    ['Could not process PDF', undefined],
    ['The PDF specified is password protected.', undefined],
    ['A maximum of 100 PDF pages may be provided.', undefined],
    ['Image does not match the provided media type image/png', undefined],
    ['At least one of the image dimensions exceed max allowed size: 8000 pixels', undefined],
    ['You uploaded an unsupported image. Please make sure your image is valid.', undefined],
    ['This model does not support image input.', undefined],
    ['Invalid file data: expected a base64-encoded data URL.', undefined],
    ['The document file is empty.', undefined],
  ])('is found in: %s', (message, at) => {
    expect(media({ message })).toEqual([true, at])
  })

  test.each([
    'invalid_image',
    'invalid_image_format',
    'image_too_large',
    'image_too_small',
    'invalid_base64_image',
    'image_parse_error',
    'unsupported_image_media_type',
    'empty_image_file',
    'image_file_too_large',
    'image_content_policy_violation',
  ])('is known by the code %s, with a status and without', (code) => {
    const param = 'input[3].content[1].image_url'
    expect(media({ code, param })).toEqual([true, 'input[3].content[1]'])
    expect(media({ code, param: 'messages[2].content[1]' })).toEqual([
      true,
      'messages[2].content[1]',
    ])
    expect(media({ code, status: undefined, type: undefined })).toEqual([true, undefined])
  })

  test('is identified by the parameter rather than by the sentence', () => {
    const message = 'Invalid image at messages[9].content[9].'
    expect(media({ message, param: 'messages[2].content[1].image_url.url' })).toEqual([
      true,
      'messages[2].content[1]',
    ])
  })

  test.each([
    { message: 'messages.3.content.1.text: Field required' },
    { message: 'Invalid model: gpt-image-1' },
    { message: "Invalid schema for function 'read_image': unsupported type" },
    { message: 'tools.3.custom.input_schema.properties.image: invalid type' },
    { message: 'Unsupported parameter. See the documentation.' },
    { message: 'Invalid parameter.', param: 'tools[1].parameters.image' },
    { message: 'prompt is too long: the pdf pages exceed the context window' },
    { message: 'The image could not be processed', status: 500 },
    { message: 'Too many images for your rate limit', status: 429 },
  ])('is not found in an error about something else: $message', (failure) => {
    expect(media(failure)).toEqual([undefined, undefined])
  })
})
