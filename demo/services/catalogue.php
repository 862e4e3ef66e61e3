<?php
/* A page that sorts its catalogue with a comparison that makes each key anew. */
class Catalogue
{
	private array $items = [];

	public function __construct()
	{
		for ($i = 0; $i < 300; $i++)
			$this->items[] = ['name' => "Item $i", 'price' => $i * 7919 % 300];
	}

	private function key(array $item): string
	{
		return str_pad((string)$item['price'], 8, '0', STR_PAD_LEFT) . strtolower(trim($item['name']));
	}

	public function sorted(): array
	{
		usort($this->items, fn($a, $b) => strcmp($this->key($a), $this->key($b)));
		return $this->items;
	}
}

echo count((new Catalogue)->sorted());
