/** What surrounds a raw request: the headers of an allowed one. */
export interface RawParts {
  readonly host: string
  readonly token: string
}

/** A name, a whole request as bytes, and the statuses of the responses until the server closes the connection. */
export type RawRequest = readonly [string, (parts: RawParts) => string, string]

const CHECK = '/api/harness/attachments/check'
const UPLOAD = '/api/harness/attachments?name=a.txt'
const NONE = '{"paths":[]}'

function get(path: string, more = '', version = 'HTTP/1.1') {
  return ({ host, token }: RawParts) =>
    `GET ${path} ${version}\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n${more}\r\n`
}

function send(method: string, path: string, more: string, body: string) {
  return ({ host, token }: RawParts) =>
    `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n` +
    `Content-Type: application/json\r\n${more}\r\n${body}`
}

function withoutToken(request: (parts: RawParts) => string) {
  return (parts: RawParts) => request(parts).replace(/Authorization.*\r\n/, '')
}

const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const WHOLE = `c\r\n${NONE}\r\n0\r\n`

/** Two readers could disagree about where such a request ends, what it asks for, or who asks. */
export const RAW_REQUESTS: readonly RawRequest[] = [
  [
    'chunks and a length',
    send('POST', CHECK, `${CHUNKED}Content-Length: 5\r\n`, '0\r\n\r\n'),
    '400',
  ],
  [
    'two lengths',
    send('POST', CHECK, 'Content-Length: 5\r\nContent-Length: 6\r\n', 'abcdef'),
    '400',
  ],
  ['a length with a sign', send('POST', CHECK, 'Content-Length: +12\r\n', NONE), '400'],
  [
    'two transfer codings',
    send('POST', CHECK, `${CHUNKED}Transfer-Encoding: identity\r\n`, ''),
    '400',
  ],
  [
    'chunks that are not last',
    send('POST', CHECK, 'Transfer-Encoding: chunked, gzip\r\n', ''),
    '400',
  ],
  ['an unknown transfer coding', send('POST', CHECK, 'Transfer-Encoding: xchunked\r\n', ''), '400'],
  [
    'compressed chunks',
    send('PUT', UPLOAD, 'Transfer-Encoding: gzip, chunked\r\n', '1\r\na\r\n0\r\n\r\n'),
    '415',
  ],
  [
    'a compressed upload',
    send('PUT', UPLOAD, 'Content-Encoding: gzip\r\nContent-Length: 1\r\n', 'a'),
    '415',
  ],
  [
    'compressed JSON',
    send('POST', CHECK, 'Content-Encoding: br\r\nContent-Length: 12\r\n', NONE),
    '415',
  ],
  [
    'a body that names no coding',
    send('POST', CHECK, 'Content-Encoding: identity\r\nContent-Length: 12\r\n', NONE),
    '200',
  ],
  ['a space before a colon', get('/healthz', 'Content-Length : 5\r\n'), '400'],
  [
    'lines without a carriage return',
    (parts) => get('/healthz')(parts).replaceAll('\r', ''),
    '400',
  ],
  ['a folded header', get('/healthz', 'X: a\r\n b\r\n'), '400'],
  ['a zero byte in a header', get('/healthz', 'X: a\0b\r\n'), '400'],
  ['a carriage return in a header', get('/healthz', 'X: a\rb\r\n'), '400'],
  ['a chunk size in C', send('POST', CHECK, CHUNKED, `0xc\r\n${NONE}\r\n0\r\n\r\n`), '400'],
  ['a chunk size over 64 bits', send('POST', CHECK, CHUNKED, `${'f'.repeat(17)}\r\n`), '400'],
  ['an endless chunk extension', send('POST', CHECK, CHUNKED, `1;${'a'.repeat(100_000)}`), '413'],
  ['trailers', send('POST', CHECK, CHUNKED, `${WHOLE}X-A: b\r\n\r\n`), '200'],
  [
    'endless trailers',
    send('POST', CHECK, CHUNKED, `${WHOLE}${'X-A: bbbbbbbb\r\n'.repeat(5_000)}\r\n`),
    '431',
  ],
  [
    'a token in the trailers',
    (parts) =>
      withoutToken(send('POST', CHECK, CHUNKED, WHOLE))(parts) +
      `Authorization: Bearer ${parts.token}\r\n\r\n`,
    '401',
  ],
  [
    'a wish to continue',
    withoutToken(send('POST', CHECK, 'Expect: 100-continue\r\nContent-Length: 12\r\n', '')),
    '100 401',
  ],
  ['another wish', send('POST', CHECK, 'Expect: tea\r\nContent-Length: 12\r\n', NONE), '417'],
  ['the target *', (parts) => get('*')(parts).replace('GET', 'OPTIONS'), '400'],
  ['an absolute target', (parts) => get(`http://${parts.host}/healthz`)(parts), '400'],
  ['a tunnel', (parts) => get(parts.host)(parts).replace('GET', 'CONNECT'), ''],
  ['a target with two slashes', get('//evil.example/healthz'), '404'],
  ['a target with a backslash', get('/\\evil.example/healthz'), '400'],
  ['a target that climbs', withoutToken(get('/healthz/../api/harness/limits')), '401'],
  ['a target with encoded slashes', withoutToken(get('/api%2fharness%2flimits')), '401'],
  ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400'],
  [
    'an upgrade to HTTP/2',
    withoutToken((parts) =>
      get(
        '/api/harness/limits',
        'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n',
      )(parts).replace('close', 'Upgrade, HTTP2-Settings, close'),
    ),
    '401',
  ],
  ['HTTP/1.0 without a host', () => 'GET /healthz HTTP/1.0\r\n\r\n', '400'],
  ['HTTP/0.9', () => 'GET /healthz\r\n\r\n', '400'],
  ['HTTP/1.2', get('/healthz', '', 'HTTP/1.2'), '400'],
  [
    'a GET with a body, and a request after it',
    (parts) =>
      get('/api/harness/limits', 'Content-Length: 5\r\n')(parts).replace('close', 'keep-alive') +
      `GET /${get('/healthz')(parts)}`,
    '200 200',
  ],
  ['two tokens', get('/api/harness/limits', 'Authorization: Bearer x\r\n'), '401'],
  [
    'an origin after 2,500 headers',
    get('/healthz', `${'a:b\r\n'.repeat(2_500)}Origin: http://evil.example\r\n`),
    '403',
  ],
  [
    'a host after 2,500 headers',
    get('/healthz', `${'a:b\r\n'.repeat(2_500)}Host: evil.example\r\n`),
    '403',
  ],
  ['a long path', get(`/${'a'.repeat(20_000)}`), '431'],
  ['a method in small letters', (parts) => get('/healthz')(parts).replace('GET', 'get'), '400'],
]
