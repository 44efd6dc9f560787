import type { User } from '@grammyjs/types'

export const BOT_TOKEN = '123456789:AAE_double-token-of-a-bot-on-loopback'
export const BOT: User & { username: string } = {
  id: 123_456_789,
  is_bot: true,
  first_name: 'Harbour',
  username: 'harbour_bot',
}
