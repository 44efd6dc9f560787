import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Descriptor } from '../model/descriptor.ts'
import { readLink, type LinkInput } from './link.ts'

function found(uri: string, more: Partial<LinkInput> = {}) {
  return readLink({ from: 'link', uri, ...more })
}

/** The fields that the Session adds; with them the descriptor must be valid. */
function asDescriptor(facts: object) {
  return Descriptor.safeParse({
    ...facts,
    resource_id: 'res_01kg8m2q3r4s5t6v7w8x9y0z12',
    handle: '@link1',
    source: 'acp',
    rehydratable: false,
  })
}

test('[SR-014] [SR-034] nothing that may be a secret is kept of a remote link', () => {
  const uri = 'HTTPS://me:pass@Example.com:8443/a/b%20c.pdf?token=1#page'
  const link = found(uri)
  expect(link).toEqual({
    facts: {
      kind: 'link',
      name: 'b c.pdf',
      uri: 'https://example.com:8443/a/b%20c.pdf',
      source_uri_scheme: 'https',
    },
  })
})

test('claims of a client about a link are kept as claims', () => {
  const claims = {
    name: 'Plan',
    title: 'The plan',
    description: 'Of the house',
    declared_media_type: 'application/pdf',
    declared_size_bytes: 12,
  }
  expect(found('https://example.com/x', claims)).toMatchObject({ facts: claims })
})

test.each([
  ['https://example.com', 'example.com'],
  ['https://example.com/a/', 'a'],
  ['https://example.com/%E0%A4%A', '%E0%A4%A'],
  ['mailto:a@example.com', 'a@example.com'],
  ['urn:isbn:12 3', 'isbn:12 3'],
  ['https://example.com/%E2%80%AEgnp.exe', String.raw`\u{202e}gnp.exe`],
  ['zed:///', 'zed:'],
])('a link without a name is named by the end of its path: %s', (uri, name) => {
  const link = found(uri)
  expect(link).toMatchObject({ facts: { name } })
  expect('facts' in link && asDescriptor(link.facts).success).toBe(true)
})

test('labels of a link are bounded, and invalid ones omitted', () => {
  const long = 'ä'.repeat(5_000)
  const link = found('https://example.com/x', {
    name: long,
    title: `${long}\n`,
    description: long,
    declared_media_type: long,
    declared_size_bytes: -1,
  })
  if (!('facts' in link)) throw new Error('it was refused')
  const { name, title, description, declared_media_type, ...rest } = link.facts
  const sizes = [name, title, description, declared_media_type].map((text = '') =>
    Buffer.byteLength(text),
  )
  expect(sizes).toEqual([255, 199, 399, 99])
  expect(rest).not.toHaveProperty('declared_size_bytes')
  expect(asDescriptor(link.facts).success).toBe(true)
})

test.each([
  ['data:text/plain,hello'],
  ['DATA:image/png;base64,AAAA'],
  ['example.com/a.png'],
  ['/a/b.png'],
  ['a.png'],
  [''],
  ['C:\\a\\b.png'],
  ['c:/a/b.png'],
  ['file:///C:/a/b.png'],
  ['file://C:/a/b.png'],
  ['file:///c%3A/a/b.png'],
  ['file:///c|/a/b.png'],
  ['file://example.com/a.png'],
  ['file://127.0.0.1/a.png'],
  ['file://localhost.example.com/a.png'],
  ['file:a.png'],
  ['file:./a.png'],
  ['file:///a%2Fb.png'],
  ['file:///a%E0%A4%A.png'],
  ['ht\ntps://example.com'],
  ['https://'],
  ['view-source:https://me:pass@example.com/'],
  ['jdbc:postgresql://me:pass@example.com/x'],
  [`https://example.com/${'a'.repeat(981)}`],
])('%j is refused as a link', (uri) => {
  expect(found(uri)).toMatchObject({ refusal: { code: 'link_refused' } })
})

test('[SR-012] a link to a file of this machine is its path', () => {
  const uris = [
    'file:///a/b%20c.png',
    'file://localhost/a/b%20c.png',
    'FILE://LOCALHOST/a/b%20c.png',
    'file:/a/b%20c.png',
    'file:///a/x/../b%20c.png?q#f',
  ]
  expect(uris.map((uri) => found(uri))).toEqual(uris.map(() => ({ path: '/a/b c.png' })))
})

test('a link of 1,000 bytes is accepted, whatever was removed from it', () => {
  const uri = `https://example.com/${'a'.repeat(980)}`
  expect(found(`${uri}?${'b'.repeat(5_000)}`)).toMatchObject({ facts: { uri } })
})

test('any link is refused or has a valid descriptor', () => {
  const schemes = fc.constantFrom('https:', 'http://', 'ftp://a@b/', 'x:', 'urn:', 'ws://h/', '')
  fc.assert(
    fc.property(schemes, fc.string({ unit: 'binary' }), fc.webUrl(), (scheme, text, url) => {
      for (const uri of [`${scheme}${text}`, `${url}${text}`]) {
        const link = found(uri, { name: text, title: text, description: text })
        if ('facts' in link) expect(asDescriptor(link.facts)).toMatchObject({ success: true })
      }
    }),
    { seed: 1, numRuns: 500 },
  )
})
