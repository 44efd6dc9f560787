import type { ATTACHMENT_CODES } from './attachment.ts'

/** What can be told of bytes by looking at them, without understanding them. */
export type Sight =
  | ImageSight
  | { readonly kind: 'pdf'; readonly pages: number; readonly words: number }
  | { readonly kind: 'text'; readonly lines: number; readonly words: number }
  | Unreadable

export interface ImageSight {
  readonly kind: 'image'
  readonly format: 'png' | 'jpeg' | 'gif' | 'webp'
  /** In pixels, as stored: an orientation that the file asks for is not applied. */
  readonly width: number
  readonly height: number
  /** At most four, the largest share first. Empty when the pixels were not decoded. */
  readonly colours: readonly { readonly name: string; readonly share: number }[]
  /** The colour that most of each region has. Empty when the pixels were not decoded. */
  readonly regions: readonly { readonly where: string; readonly colour: string }[]
  /** `false` where no image library is installed: then only the header was read. */
  readonly decoded: boolean
}

export interface Unreadable {
  readonly kind: 'unreadable'
  readonly code: (typeof ATTACHMENT_CODES)[number]
  /** The rest of a sentence that begins with what is unreadable and "cannot be read:". */
  readonly why: string
}

/** Looks at bytes. Bounded in time and memory; answers `unreadable` instead of throwing, whatever the bytes are. */
export type Describe = (bytes: Buffer, media_type: string) => Promise<Sight>
