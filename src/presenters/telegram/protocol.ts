import * as z from 'zod'
import { closedObject, type Frozen } from '../../model/shape.ts'

/** What Telegram sends, as far as it is read. Everything in it is untrusted; what is not a known field is dropped. */

/** An id as Telegram gives them: 52 bits with a sign. */
const Id = z.int()
const Text = z.string()

const User = closedObject(() => ({
  id: Id,
  is_bot: z.boolean(),
  first_name: Text,
  last_name: Text.optional(),
  username: Text.optional(),
}))

const Chat = closedObject(() => ({
  id: Id,
  type: Text,
  title: Text.optional(),
  first_name: Text.optional(),
  last_name: Text.optional(),
  username: Text.optional(),
}))

const PhotoSize = closedObject(() => ({
  file_id: Text,
  width: z.number(),
  height: z.number(),
  file_size: z.number().optional(),
}))

const Document = closedObject(() => ({
  file_id: Text,
  mime_type: Text.optional(),
  file_size: z.number().optional(),
}))

const Entity = closedObject(() => ({
  type: Text,
  offset: z.int().nonnegative(),
  length: z.int().nonnegative(),
  user: User.optional(),
}))

/** Its presence counts, not its content. */
const Present = z.custom<object>((value) => typeof value === 'object' && value !== null)

const content = () => ({
  message_id: Id,
  date: z.number(),
  chat: Chat,
  from: User.optional(),
  sender_chat: Chat.optional(),
  message_thread_id: Id.optional(),
  is_topic_message: z.boolean().optional(),
  media_group_id: Text.optional(),
  text: Text.optional(),
  entities: z.array(Entity).optional(),
  caption: Text.optional(),
  caption_entities: z.array(Entity).optional(),
  photo: z.array(PhotoSize).optional(),
  document: Document.optional(),
  animation: Present.optional(),
  audio: Present.optional(),
  contact: Present.optional(),
  dice: Present.optional(),
  game: Present.optional(),
  location: Present.optional(),
  paid_media: Present.optional(),
  poll: Present.optional(),
  sticker: Present.optional(),
  story: Present.optional(),
  venue: Present.optional(),
  video: Present.optional(),
  video_note: Present.optional(),
  voice: Present.optional(),
  checklist: Present.optional(),
  live_photo: Present.optional(),
  rich_message: Present.optional(),
  migrate_to_chat_id: Id.optional(),
})

const Quoted = closedObject(content)

const MessageShape = closedObject(() => ({
  ...content(),
  reply_to_message: Quoted.optional(),
  quote: closedObject(() => ({ text: Text })).optional(),
}))
export type Message = Frozen<z.infer<typeof MessageShape>>
export type QuotedMessage = Frozen<z.infer<typeof Quoted>>
export type MessageEntity = Frozen<z.infer<typeof Entity>>

/** The kinds of content that no Instance can be shown, in words. */
export const OTHER_CONTENT = {
  animation: 'Animations',
  audio: 'Audio files',
  checklist: 'Checklists',
  contact: 'Contacts',
  dice: 'Dice',
  game: 'Games',
  live_photo: 'Live photos',
  location: 'Locations',
  paid_media: 'Paid media',
  poll: 'Polls',
  rich_message: 'Rich messages',
  sticker: 'Stickers',
  story: 'Stories',
  venue: 'Places',
  video: 'Videos',
  video_note: 'Video messages',
  voice: 'Voice messages',
} as const satisfies Partial<Record<keyof Message, string>>

/** An update. Its message is examined by itself, so that a strange one does not hide the number of the update. */
export const Update = closedObject(() => ({
  update_id: z.int(),
  message: z.unknown().optional(),
  edited_message: z.unknown().optional(),
}))
export type Update = Frozen<z.infer<typeof Update>>

/** The kinds of updates that are asked for. */
export const UPDATE_KINDS = ['message', 'edited_message'] as const

/** The message of an update, new or edited; `undefined` if it is neither or not understood. */
export function messageOf(
  update: Update,
): { readonly message: Message; readonly isEdit: boolean } | undefined {
  const isEdit = update.message === undefined
  const { data } = MessageShape.safeParse(isEdit ? update.edited_message : update.message)
  return data && { message: data, isEdit }
}

/** What the bot is, as Telegram describes it. */
export const Me = closedObject(() => ({ id: Id, username: Text, first_name: Text }))
export type Me = Frozen<z.infer<typeof Me>>

/** A file that can be downloaded for an hour. */
export const File = closedObject(() => ({
  file_path: Text.optional(),
  file_size: z.number().optional(),
}))

/** Limits of the platform. Lengths are in UTF-16 units after parsing. */
export const PLATFORM = {
  message_units: 4_096,
  caption_units: 1_024,
  entities: 100,
  rich_characters: 32_768,
  rich_blocks: 500,
  rich_levels: 16,
  table_columns: 20,
  photo_bytes: 10 * 1024 * 1024,
  /** Width and height together. */
  photo_sides: 10_000,
  photo_ratio: 20,
  updates: 100,
} as const
