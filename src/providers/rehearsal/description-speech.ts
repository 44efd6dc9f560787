import { IMAGE_FORMATS, type ImageDescription, type Description } from '../../model/description.ts'
import type { Inspection, VisiblePart, Descriptions, DescriptionText } from './visible-parts.ts'
import { joinWords } from './wording.ts'

/** Describes bytes by sizes, colours and counts, so that an answer shows which bytes arrived. It claims nothing else. Pure. */
export function descriptionText(
  { parts, absent }: Inspection,
  descriptions: Descriptions,
  tools: ReadonlySet<string>,
): DescriptionText {
  const names = partNames(parts)
  const partSentences = parts.flatMap(({ part }, index) => {
    const description = descriptions.get(part)
    return description === undefined ? [] : [`${names[index] ?? ''} ${sentenceOf(description)}.`]
  })
  const unseenNames = parts
    .filter(({ part }) => !descriptions.has(part))
    .map(({ handle, media_type }) => handle ?? media_type)
  const dark = unseenNames.length === 0 ? [] : [`I cannot look into ${joinWords(unseenNames)}.`]
  return {
    partSentences,
    unseenNames,
    sentences: [...partSentences, ...dark, ...notShown(absent, tools)],
  }
}

function sentenceOf(description: Description): string {
  switch (description.kind) {
    case 'image':
      return `is a ${IMAGE_FORMATS[description.format]} picture, ${description.width} by ${description.height} pixels${colours(description)}`
    case 'pdf':
      return `is a PDF document of ${count(description.pages, 'page')} and ${count(description.words, 'word')}`
    case 'text':
      return `is a text file with ${count(description.lines, 'line')} and ${count(description.words, 'word')}`
    case 'unreadable':
      return `cannot be read: ${description.why}`
  }
}

function colours({ decoded, colours: found, regions }: ImageDescription): string {
  if (!decoded)
    return '; its colours are unknown because the library that decodes pictures is not installed'
  const shares = found.map(({ name, share }) => `${name} (${Math.round(share * 100)} %)`)
  const places = regions.map(({ where, colour }) => `${where} ${colour}`)
  return `, mostly ${joinWords(shares)}; ${places.join(', ')}`
}

/** A Resource without bytes has only its description, which is quoted verbatim. */
function notShown(absent: Inspection['absent'], tools: ReadonlySet<string>): string[] {
  const unknown = absent.filter(
    ({ descriptor, why }) => descriptor === undefined && why === undefined,
  )
  const known = absent.filter((one) => !unknown.includes(one))
  return [
    ...unknown.map(({ handle }) => `The bytes of ${handle} are not in this request.`),
    ...(known.length > MOST_DESCRIBED
      ? [`${joinWords(handlesOf(known))} are only described in this request.`]
      : known.map(describeAbsent)),
    ...(tools.has('resource_view') ? viewable(known) : []),
  ]
}

/** Beyond this number, Resources are only named. */
const MOST_DESCRIBED = 4

function describeAbsent({ handle, descriptor, why }: Inspection['absent'][number]): string {
  const lines = [descriptor, why].filter((line) => line !== undefined).join(' ')
  return `I see only the description of ${handle}, because its bytes are not in this request: ${lines.replace(/\.$/, '')}.`
}

/** A Resource that could not be shown just now cannot be viewed either; links and other files never can. */
function viewable(absent: Inspection['absent']): string[] {
  const handles = handlesOf(absent.filter(({ why }) => why === undefined)).filter((handle) =>
    /^@(?:img|pdf|txt)/.test(handle),
  )
  return handles.length === 0 ? [] : [`To see more, say “view ${handles[0] ?? ''}”.`]
}

function handlesOf(absent: Inspection['absent']): string[] {
  return absent.map(({ handle }) => handle)
}

/** A part without a handle gets a number among those of its kind. */
function partNames(shown: readonly VisiblePart[]): string[] {
  const nameless = shown.filter(({ handle }) => handle === undefined).map(isImage)
  const alone = (image: boolean) => nameless.filter((one) => one === image).length === 1
  const [oneImage, oneDocument] = [alone(true), alone(false)]
  const counted = { images: 0, documents: 0 }
  return shown.map((one) => {
    if (one.handle !== undefined) return one.handle
    if (isImage(one)) return oneImage ? 'The picture' : `Picture ${(counted.images += 1)}`
    return oneDocument ? 'The document' : `Document ${(counted.documents += 1)}`
  })
}

function isImage({ media_type }: VisiblePart): boolean {
  return media_type.startsWith('image/')
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
