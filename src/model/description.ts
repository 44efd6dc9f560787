import type { ATTACHMENT_CODES } from './attachment.ts'

/** Facts about bytes that can be computed without understanding them. */
export type Description =
  | ImageDescription
  | { readonly kind: 'pdf'; readonly pages: number; readonly words: number }
  | { readonly kind: 'text'; readonly lines: number; readonly words: number }
  | Unreadable

/** As people write them. */
export const IMAGE_FORMATS = { png: 'PNG', jpeg: 'JPEG', gif: 'GIF', webp: 'WebP' } as const

export interface ImageDescription {
  readonly kind: 'image'
  readonly format: keyof typeof IMAGE_FORMATS
  /** In pixels, as stored: the orientation of the file is not applied. */
  readonly width: number
  readonly height: number
  /** At most four, the largest share first. Empty if the pixels were not decoded. */
  readonly colours: readonly { readonly name: string; readonly share: number }[]
  /** The dominant colour of each region. Empty if the pixels were not decoded. */
  readonly regions: readonly { readonly where: string; readonly colour: string }[]
  /** `false` if no image library is installed: only the header was read. */
  readonly decoded: boolean
}

export interface Unreadable {
  readonly kind: 'unreadable'
  readonly code: (typeof ATTACHMENT_CODES)[number]
  /** Completes a sentence that ends with "cannot be read:". */
  readonly why: string
}

/** Describes bytes, bounded in time and memory. Returns `unreadable` instead of throwing. */
export type Describe = (bytes: Buffer, media_type: string) => Promise<Description>
