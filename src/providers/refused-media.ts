import type { RefusedMedia } from '../model/error-cause.ts'
import type { VendorFailure } from './vendor-failure.ts'

/** Codes with which vendors reject an image or a file. */
export const MEDIA_CODES = [
  'empty_image_file',
  'failed_to_download_image',
  'image_content_policy_violation',
  'image_file_not_found',
  'image_file_too_large',
  'image_parse_error',
  'image_too_large',
  'image_too_small',
  'invalid_base64_image',
  'invalid_file',
  'invalid_image',
  'invalid_image_format',
  'invalid_image_mode',
  'invalid_image_url',
  'unsupported_file',
  'unsupported_image_media_type',
] as const

/** Whether an image or document of the request caused the error, and which one, if the vendor names it. Pure. */
export function refusedMedia({ code, param, message }: VendorFailure): RefusedMedia | undefined {
  const text = `${param ?? ''} ${message}`
  if (!CODES.has(code?.toLowerCase() ?? '') && !isAboutMedia(text)) return undefined
  const [at] = PLACE.exec(param ?? '') ?? PLACE.exec(message) ?? []
  return at === undefined ? {} : { at }
}

const CODES: ReadonlySet<string> = new Set(MEDIA_CODES)

/** The path of a content block in a request, possibly inside a tool result, without the rest of the path inside the block. */
const PLACE =
  /\b(?:messages|input)(?:\.?\[\d+\]|\.\d+)(?:\.(?:tool_result\.)?(?:content|output)(?:\.?\[\d+\]|\.\d+))*/

/** Names and parameters of tools can contain any word. */
const ABOUT_TOOLS = /^\s*tools\b|\b(?:schema for|function|tool) ['"`]/i

const MEDIA =
  /(?<![\w-])(?:input_)?image|\bpdf\b|\bdocument(?!ation)|\binput_file\b|\bfile (?:data|format|type)\b|\bmedia type\b/i

const TROUBLE =
  /\b(?:could not|cannot|can't|unable to|failed to) (?:be )?(?:decode|download|load|open|parse|process|read)|\bunsupported\b|\bnot (?:a )?(?:support|valid|match)|\binvalid\b|\bcorrupt|\btoo (?:big|large|many|small)\b|\bexceed|\blarger than\b|\bempty\b|\bpassword|\bencrypted\b|\bmaximum\b/i

function isAboutMedia(text: string): boolean {
  return !ABOUT_TOOLS.test(text) && MEDIA.test(text) && TROUBLE.test(text)
}
