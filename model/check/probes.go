package check

// Probe is the same sentences in one language.
type Probe struct {
	Language, Script string
	Sentences        [3]string // translations of those of English, the first probe
}

// Probes are written for this project.
var Probes = []Probe{
	{"en", "Latin", [3]string{"The train to the coast leaves at seven in the morning.",
		"My grandmother keeps bees behind her house.", "The parliament rejected the new law on water prices."}},
	{"de", "Latin", [3]string{"Der Zug an die Küste fährt um sieben Uhr morgens ab.",
		"Meine Großmutter hält Bienen hinter ihrem Haus.",
		"Das Parlament lehnte das neue Gesetz über die Wasserpreise ab."}},
	{"fr", "Latin", [3]string{"Le train pour la côte part à sept heures du matin.",
		"Ma grand-mère élève des abeilles derrière sa maison.",
		"Le parlement a rejeté la nouvelle loi sur le prix de l'eau."}},
	{"es", "Latin", [3]string{"El tren a la costa sale a las siete de la mañana.",
		"Mi abuela cría abejas detrás de su casa.", "El parlamento rechazó la nueva ley sobre el precio del agua."}},
	{"pl", "Latin", [3]string{"Pociąg nad morze odjeżdża o siódmej rano.", "Moja babcia hoduje pszczoły za domem.",
		"Parlament odrzucił nową ustawę o cenach wody."}},
	{"tr", "Latin", [3]string{"Sahile giden tren sabah yedide kalkıyor.", "Büyükannem evinin arkasında arı besliyor.",
		"Parlamento su fiyatlarıyla ilgili yeni yasayı reddetti."}},
	{"fi", "Latin", [3]string{"Juna rannikolle lähtee seitsemältä aamulla.",
		"Isoäitini pitää mehiläisiä talonsa takana.", "Parlamentti hylkäsi uuden lain veden hinnoista."}},
	{"vi", "Latin", [3]string{"Chuyến tàu ra bờ biển khởi hành lúc bảy giờ sáng.", "Bà tôi nuôi ong sau nhà.",
		"Quốc hội đã bác bỏ luật mới về giá nước."}},
	{"ru", "Cyrillic", [3]string{"Поезд к побережью отправляется в семь утра.", "Моя бабушка держит пчёл за домом.",
		"Парламент отклонил новый закон о ценах на воду."}},
	{"uk", "Cyrillic", [3]string{"Потяг до узбережжя вирушає о сьомій ранку.", "Моя бабуся тримає бджіл за хатою.",
		"Парламент відхилив новий закон про ціни на воду."}},
	{"el", "Greek", [3]string{"Το τρένο για την ακτή φεύγει στις επτά το πρωί.",
		"Η γιαγιά μου έχει μέλισσες πίσω από το σπίτι της.",
		"Το κοινοβούλιο απέρριψε τον νέο νόμο για τις τιμές του νερού."}},
	{"ar", "Arabic", [3]string{"يغادر القطار إلى الساحل في السابعة صباحا.", "تربي جدتي النحل خلف منزلها.",
		"رفض البرلمان القانون الجديد بشأن أسعار المياه."}},
	{"fa", "Arabic", [3]string{"قطار ساحل ساعت هفت صبح حرکت می\u200cکند.",
		"مادربزرگم پشت خانه\u200cاش زنبور عسل نگه می\u200cدارد.", "مجلس قانون جدید قیمت آب را رد کرد."}},
	{"he", "Hebrew", [3]string{"הרכבת לחוף יוצאת בשבע בבוקר.", "סבתא שלי מגדלת דבורים מאחורי הבית שלה.",
		"הפרלמנט דחה את החוק החדש על מחירי המים."}},
	{"hi", "Devanagari", [3]string{"तट की ट्रेन सुबह सात बजे छूटती है।",
		"मेरी दादी अपने घर के पीछे मधुमक्खियाँ पालती हैं।", "संसद ने पानी की कीमतों पर नया कानून अस्वीकार कर दिया।"}},
	{"bn", "Bengali", [3]string{"উপকূলের ট্রেন সকাল সাতটায় ছাড়ে।", "আমার দাদি তার বাড়ির পেছনে মৌমাছি পালন করেন।",
		"সংসদ পানির দাম নিয়ে নতুন আইন প্রত্যাখ্যান করেছে।"}},
	{"th", "Thai", [3]string{"รถไฟไปชายฝั่งออกเวลาเจ็ดโมงเช้า", "คุณยายของฉันเลี้ยงผึ้งหลังบ้าน",
		"รัฐสภาปฏิเสธกฎหมายใหม่เกี่ยวกับราคาน้ำ"}},
	{"zh", "Han", [3]string{"开往海边的火车早上七点出发。", "我的祖母在她家后面养蜜蜂。", "议会否决了关于水价的新法律。"}},
	{"ja", "Japanese", [3]string{"海岸行きの電車は朝七時に出発します。", "祖母は家の裏で蜂を飼っています。", "議会は水道料金に関する新しい法律を否決した。"}},
	{"ko", "Hangul", [3]string{"해안으로 가는 기차는 아침 일곱 시에 출발합니다.", "우리 할머니는 집 뒤에서 벌을 키우신다.", "의회는 물 가격에 관한 새 법을 부결했다."}},
}
