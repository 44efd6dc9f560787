import * as z from 'zod'
import type { Result } from '../../model/errors.ts'
import { openObject, type Frozen } from '../../model/shape.ts'
import { readRecord, removeRecord, writeRecord, type TelegramHome } from './telegram-folder.ts'

const NAME = 'bot.json'

/** The bot that a person connected. Its token is a setting. */
const BotRecord = openObject(() => ({
  id: z.int().positive(),
  username: z.string(),
  /** The server that the token was proved with; the token is sent to no other. */
  api_root: z.string(),
}))
export type BotRecord = Frozen<z.infer<typeof BotRecord>>

/** The connected bot; `undefined` without one. */
export function readBot(place: Pick<TelegramHome, 'home'>): Promise<Result<BotRecord | undefined>> {
  return readRecord(place, NAME, BotRecord)
}

export function writeBot(place: TelegramHome, bot: BotRecord): Promise<Result<void>> {
  return writeRecord(place, NAME, bot)
}

export function removeBot(place: Pick<TelegramHome, 'home'>): Promise<Result<void>> {
  return removeRecord(place, NAME)
}
