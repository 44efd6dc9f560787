import type { ApiMethods } from '@grammyjs/types'

/** What a file is in a request to the double. */
type Upload = string
type Methods = ApiMethods<Upload>
type Arguments<M extends keyof Methods> = NonNullable<Parameters<Methods[M]>[0]>

/** Each argument of a method in the types of the Bot API, and whether it is required: a change there breaks the build here. */
type Shape<M extends keyof Methods> = {
  readonly [K in keyof Required<Arguments<M>>]: undefined extends Arguments<M>[K]
    ? 'optional'
    : 'required'
}

const PLACE = {
  business_connection_id: 'optional',
  chat_id: 'required',
  message_thread_id: 'optional',
  direct_messages_topic_id: 'optional',
  ephemeral_message_parameters: 'optional',
  disable_notification: 'optional',
  protect_content: 'optional',
  allow_paid_broadcast: 'optional',
  message_effect_id: 'optional',
  suggested_post_parameters: 'optional',
  reply_parameters: 'optional',
  reply_markup: 'optional',
  reply_to_message_id: 'optional',
} as const

const { reply_to_message_id: _, ...RICH_PLACE } = PLACE

/** The methods that the gateway may call. */
export const METHODS = {
  getMe: {},
  getWebhookInfo: {},
  getUpdates: {
    offset: 'optional',
    limit: 'optional',
    timeout: 'optional',
    allowed_updates: 'optional',
  } satisfies Shape<'getUpdates'>,
  setMyCommands: {
    commands: 'required',
    scope: 'optional',
    language_code: 'optional',
  } satisfies Shape<'setMyCommands'>,
  getFile: { file_id: 'required' } satisfies Shape<'getFile'>,
  sendMessage: {
    ...PLACE,
    text: 'required',
    parse_mode: 'optional',
    entities: 'optional',
    link_preview_options: 'optional',
  } satisfies Shape<'sendMessage'>,
  sendRichMessage: { ...RICH_PLACE, rich_message: 'required' } satisfies Shape<'sendRichMessage'>,
  sendPhoto: {
    ...PLACE,
    photo: 'required',
    caption: 'optional',
    parse_mode: 'optional',
    caption_entities: 'optional',
    show_caption_above_media: 'optional',
    has_spoiler: 'optional',
  } satisfies Shape<'sendPhoto'>,
  sendDocument: {
    ...PLACE,
    document: 'required',
    thumbnail: 'optional',
    caption: 'optional',
    parse_mode: 'optional',
    caption_entities: 'optional',
    disable_content_type_detection: 'optional',
  } satisfies Shape<'sendDocument'>,
  sendChatAction: {
    business_connection_id: 'optional',
    chat_id: 'required',
    message_thread_id: 'optional',
    action: 'required',
  } satisfies Shape<'sendChatAction'>,
  sendMessageDraft: {
    chat_id: 'required',
    message_thread_id: 'optional',
    draft_id: 'required',
    text: 'optional',
    parse_mode: 'optional',
    entities: 'optional',
    can_stop: 'optional',
    keep_on_stop: 'optional',
  } satisfies Shape<'sendMessageDraft'>,
} as const satisfies Partial<Record<keyof Methods, object>>
export type MethodName = keyof typeof METHODS

/** What is wrong with the names of the arguments, as the types see it. */
export function wrongArguments(method: MethodName, args: object): string | undefined {
  const shape: Readonly<Record<string, string>> = METHODS[method]
  const unknown = Object.keys(args).find((name) => shape[name] === undefined)
  if (unknown !== undefined) return `${method} has no argument ${unknown}`
  const missing = Object.entries(shape).find(
    ([name, need]) => need === 'required' && !Object.hasOwn(args, name),
  )
  return missing && `${method} needs ${missing[0]}`
}
