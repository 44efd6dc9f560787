import { describe, expect, expectTypeOf, test } from 'vitest'
import { Descriptor, Handle, type ResourceKind } from './descriptor.ts'

const sha = 'a'.repeat(64)
const IMAGE = {
  resource_id: 'res_01jaaaaaaaaaaaaaaaaaaaaaaa',
  handle: '@img1',
  kind: 'image',
  name: 'a.png',
  media_type: 'image/png',
  size_bytes: 68,
  content_sha256: sha,
  blob: `${sha}.png`,
  width: 1,
  height: 1,
  source: 'acp',
  source_uri_scheme: 'file',
  rehydratable: true,
}
const LINK = {
  resource_id: 'res_01jaaaaaaaaaaaaaaaaaaaaaaa',
  handle: '@link4',
  kind: 'link',
  name: 'page',
  uri: 'https://example.com/a/page',
  declared_media_type: 'text/html',
  declared_size_bytes: 9,
  source: 'acp',
  rehydratable: false,
}

function accepts(descriptor: object): boolean {
  return Descriptor.safeParse(descriptor).success
}

test('a descriptor keeps fields it does not know', () => {
  expect(Descriptor.parse({ ...IMAGE, later: 1 })).toEqual({ ...IMAGE, later: 1 })
  expect(Descriptor.parse({ ...LINK, later: 1 })).toEqual({ ...LINK, later: 1 })
})

test('a descriptor names its Resource by a prefixed id [SR-005]', () => {
  expect(accepts({ ...IMAGE, resource_id: 'evt_01jaaaaaaaaaaaaaaaaaaaaaaa' })).toBe(false)
  expect(accepts({ ...IMAGE, resource_id: undefined })).toBe(false)
})

test.each(['image', 'pdf', 'text', 'file'])(
  'a descriptor of kind %s requires its hash and its blob [SR-006] [TI-081]',
  (kind) => {
    expect(accepts({ ...IMAGE, kind })).toBe(true)
    expect(accepts({ ...IMAGE, kind, content_sha256: undefined })).toBe(false)
    expect(accepts({ ...IMAGE, kind, blob: undefined })).toBe(false)
  },
)

test.each([`../${sha}.png`, `/tmp/${sha}.png`, '../../etc/passwd', 'a.png', `${sha}.png/..`, sha])(
  'a descriptor with the payload %s is refused: it may only have a key [TI-122]',
  (blob) => {
    expect(accepts({ ...IMAGE, blob })).toBe(false)
  },
)

test.each(['data', 'base64', 'path', 'source_path'])(
  'a descriptor with the field %s is refused',
  (field) => {
    expect(accepts({ ...IMAGE, [field]: 'x' })).toBe(false)
    expect(accepts({ ...LINK, [field]: 'x' })).toBe(false)
  },
)

test.each(['media_type', 'size_bytes', 'content_sha256', 'blob'] as const)(
  'a link has no %s, as nothing was fetched [SR-015]',
  (field) => {
    expect(accepts({ ...LINK, [field]: IMAGE[field] })).toBe(false)
  },
)

test('a link is never rehydratable and always has a uri [SR-015]', () => {
  expect(accepts({ ...LINK, rehydratable: true })).toBe(false)
  expect(accepts({ ...LINK, uri: undefined })).toBe(false)
})

describe('the uri of a link', () => {
  test('has at most 1,000 bytes', () => {
    const uri = (letters: number) => `xy:${'é'.repeat(letters)}x`
    expect(accepts({ ...LINK, uri: uri(498) })).toBe(true)
    expect(accepts({ ...LINK, uri: uri(499) })).toBe(false)
  })

  test.each(['https://example.com', 'mcp+x://host:80/a@b', 'urn:isbn:1', 'mailto:a@b.c'])(
    'may be %s',
    (uri) => {
      expect(accepts({ ...LINK, uri })).toBe(true)
    },
  )

  test.each([
    'https://me:secret@example.com/',
    'https://me@example.com',
    'https://example.com/?token=1',
    'https://example.com/#part',
    'file:///home/me/a.png',
    'FILE:/home/me/a.png',
    'data:image/png;base64,AAAA',
    '/home/me/a.png',
    'C:\\Users\\me\\a.png',
    'c:/Users/me/a.png',
    'https:me@example.com',
    'https:\\\\me@example.com',
    'https://example.com/?',
    'https:',
    'https://example.com/a b',
    '',
  ])('may not be "%s"', (uri) => {
    expect(accepts({ ...LINK, uri })).toBe(false)
  })
})

test('a handle is one of five names with a number', () => {
  const accepted = (handle: string) => Handle.safeParse(handle).success
  expect(['@img1', '@pdf2', '@txt3', '@link4', '@file50'].every(accepted)).toBe(true)
  expect(
    ['@img0', '@img01', '@img', 'img1', '@doc1', '@img1 ', '@img1\n', '@IMG1'].some(accepted),
  ).toBe(false)
})

test('the kinds of the descriptor are the kinds that have handles', () => {
  expectTypeOf<Descriptor['kind']>().toEqualTypeOf<ResourceKind>()
})
