import { Descriptor, HANDLE_PREFIXES, type ResourceKind } from '../../../src/model/descriptor.ts'

/** The descriptor of the `n`th Resource of a generated Log. */
export function generatedDescriptor(made: {
  readonly kind: ResourceKind
  readonly n: number
  readonly resource_id: string
  readonly blob: string
}): Descriptor {
  const { kind, n, resource_id, blob } = made
  const handle = `@${HANDLE_PREFIXES[kind]}${n}`
  const shared = { resource_id, handle, name: `r${n}`, source: 'cli', kind }
  return Descriptor.parse(
    kind === 'link'
      ? { ...shared, uri: 'https://example.org/x', rehydratable: false }
      : {
          ...shared,
          media_type: 'image/png',
          size_bytes: 3,
          content_sha256: blob.slice(0, 64),
          blob,
          rehydratable: true,
        },
  )
}
