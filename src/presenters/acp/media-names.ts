import { ATTACHMENT_EXTENSIONS } from '../../model/limits.ts'

/** The usual extension of an attachment type, without a dot; `undefined` for any other type. */
export function extensionOf(mediaType: string): string | undefined {
  const found = Object.entries(ATTACHMENT_EXTENSIONS).find(
    ([, one]) => one.media_type === mediaType,
  )
  return found?.[0].slice(1)
}

/** The type of an extension, without a dot. */
function mediaTypeOf(extension: string): string | undefined {
  const name = `.${extension.toLowerCase()}`
  return Object.entries(ATTACHMENT_EXTENSIONS).find(([one]) => one === name)?.[1].media_type
}

/** The name with this extension, unless it has one for the same type. */
export function withExtension(name: string, extension: string): string {
  const [, own = ''] = /\.([^./\\]+)$/.exec(name) ?? []
  return mediaTypeOf(own) === mediaTypeOf(extension) ? name : `${name}.${extension}`
}
